# Three images: `controller` runs controller and api-proxy, `agent-minimal` and `agent` run the agent. The default is `agent`.
# A published image names its base by digest: --build-arg BASE=node:24.21.0-trixie-slim@sha256:… (docs/release.md).
ARG BASE=node:24.21.0-trixie-slim

FROM ${BASE} AS build
WORKDIR /src
# Only the packages that the build uses are downloaded: of the lock file, a fifth.
COPY package.json package-lock.json .npmrc /lock/
COPY hack/image-packages.ts hack/
COPY hack/lib/image/packages-for-build.ts hack/lib/image/
RUN node hack/image-packages.ts /lock . \
 && npm ci --ignore-scripts --engine-strict=false --loglevel=error
COPY src src
COPY hack/build.ts hack/
COPY hack/lib/bundle.ts hack/lib/bundle-cli.ts hack/lib/place-file.ts hack/lib/revision.ts hack/lib/root.ts hack/lib/
# There is no git here.
ARG REVISION=unknown
# koffi is native and stays outside of the bundles. Only the agent loads it.
RUN node hack/build.ts --revision "$REVISION" \
 && mkdir -p /app/controller /app/agent/node_modules/@koromix \
 && cp dist/main.cjs dist/controller.cjs dist/api-proxy.cjs /app/controller/ \
 && cp dist/main.cjs dist/agent.cjs dist/child.cjs /app/agent/ \
 && cp -r node_modules/koffi /app/agent/node_modules/ \
 && cp -r node_modules/@koromix/koffi-linux-* /app/agent/node_modules/@koromix/

# Node, the libraries that it is linked to, and certificates. Scanners for vulnerabilities read in status.d, and in os-release, which
# packages they are of.
FROM ${BASE} AS files
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
 && mkdir -p /runtime/usr/lib /runtime/usr/lib64 /runtime/var/lib/dpkg/status.d \
 && find / -maxdepth 1 -name 'lib*' -type l -exec cp -P {} /runtime/ \; \
 && libraries=$(ldd /usr/local/bin/node | grep -o '/[^ ]*') \
 && for file in /usr/local/bin/node /etc/os-release /etc/debian_version /etc/ssl/certs/ca-certificates.crt $libraries; do \
      folder=/runtime$(readlink -f $(dirname $file)) && mkdir -p $folder && cp -L $file $folder/ || exit 1; done \
 && for package in $(dpkg -S $(readlink -f $libraries) | cut -d: -f1 | sort -u) ca-certificates; do \
      dpkg-query --status $package >/runtime/var/lib/dpkg/status.d/$package || exit 1; done \
 && echo 'root:x:0:0:root:/:/none' >/runtime/etc/passwd && echo 'root:x:0:' >/runtime/etc/group \
 && echo 'nodevolume:x:65532:65532:controller:/:/none' >>/runtime/etc/passwd && echo 'nodevolume:x:65532:' >>/runtime/etc/group

# The first layer of all three. api-proxy runs from the controller's image: a node that has it does not pull Node again for the agent.
FROM scratch AS runtime
COPY --from=files /runtime /
WORKDIR /app
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV NODE_ENV=production
# Threads that share what they allocate: 4 MB less of an agent with 1,000 volumes, and none of them allocates much.
ENV MALLOC_ARENA_MAX=1
# Threads that mostly wait, for the disk or for an unmount: with libuv's four, a journal's write would wait for eight unmounts.
ENV UV_THREADPOOL_SIZE=16
# A library's use of punycode is no line of a log that is JSON.
ENTRYPOINT ["node", "--max-semi-space-size=4", "--disable-warning=DEP0040", "/app/main.cjs"]
ARG BASE
ARG VERSION=0.1.0
# The commit, and its time. Without them two builds are the same, too.
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.description="Declares which volumes must be mounted on each Kubernetes node, and shows whether they are, and if not, why" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.base.name="${BASE}"

FROM runtime AS controller
COPY --from=build /app/controller /app
LABEL org.opencontainers.image.title="node-volume-operator-controller"
USER 65532:65532

# mount, umount, blkid and what confines git; mkfs and fsck of the file systems that a local disk may have; mount.nfs; git, with
# ssh and the certificates by which it knows servers.
FROM ${BASE} AS tools-minimal
RUN apt-get update \
 && apt-get install -y --no-install-recommends util-linux mount e2fsprogs xfsprogs btrfs-progs nfs-common git openssh-client ca-certificates
COPY hack/image/strip.sh /tmp/

FROM tools-minimal AS tools-minimal-stripped
RUN sh /tmp/strip.sh

FROM runtime AS agent-minimal
COPY --from=tools-minimal-stripped / /
COPY --from=build /app/agent /app
LABEL org.opencontainers.image.title="node-volume-operator-agent-minimal"
# The agent mounts, so it is root.
USER root

# mount.cifs; glusterfs, ceph-fuse and rbd-nbd. src/host/linux/child/find-program.ts says of each that agent-minimal lacks it.
FROM tools-minimal AS tools
RUN apt-get install -y --no-install-recommends cifs-utils glusterfs-client rbd-nbd
# Debian has no ceph-fuse for arm64 (docs/release.md#arm64).
RUN [ "$(dpkg --print-architecture)" = arm64 ] || apt-get install -y --no-install-recommends ceph-fuse
# The client builds the graph that the server names, as root. What only servers and bricks have of it is not there: it would serve files of the node, or write them.
RUN cd /usr/lib/*/glusterfs/*/xlator \
 && rm storage/posix.so protocol/server.so mgmt/glusterd.so features/bit-rot.so features/bitrot-stub.so features/changelog.so features/index.so features/marker.so features/quotad.so features/snapview-server.so playground/template.so
RUN sh /tmp/strip.sh

FROM runtime AS agent
COPY --from=tools / /
COPY --from=build /app/agent /app
LABEL org.opencontainers.image.title="node-volume-operator-agent"
USER root
