# One image for both roles: `controller` needs none of the tools, `agent` all of them.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --engine-strict=false --loglevel=error
COPY src src
COPY hack/build.ts hack/
COPY hack/lib/bundle.ts hack/lib/bundle-cli.ts hack/lib/place-file.ts hack/lib/root.ts hack/lib/
# koffi is native and stays outside of the bundles.
RUN node hack/build.ts \
 && mkdir -p /app/node_modules/@koromix \
 && cp dist/*.cjs /app/ \
 && cp -r node_modules/koffi /app/node_modules/ \
 && cp -r node_modules/@koromix/koffi-linux-* /app/node_modules/@koromix/

FROM node:24.21.0-bookworm-slim AS tools
# mount, umount, blkid and what confines git; mkfs and fsck of the file systems that a local disk may have; mount.nfs and mount.cifs; glusterfs, ceph-fuse and rbd-nbd; git, with
# ssh and the certificates by which it knows servers.
RUN apt-get update \
 && apt-get install -y --no-install-recommends util-linux mount e2fsprogs xfsprogs btrfs-progs nfs-common cifs-utils glusterfs-client ceph-fuse rbd-nbd git openssh-client ca-certificates
# The client builds the graph that the server names, as root. What only servers and bricks have of it is not there: it would serve files of the node, or write them.
RUN cd /usr/lib/*/glusterfs/*/xlator \
 && rm storage/posix.so protocol/server.so mgmt/glusterd.so features/bit-rot.so features/bitrot-stub.so features/changelog.so features/index.so features/marker.so features/quotad.so features/snapview-server.so playground/template.so
# Nothing is installed later, and nobody becomes another user. What dpkg knows of the packages stays, for those who look for vulnerable ones.
RUN find / -xdev -type f -perm /6000 -exec chmod ug-s {} + \
 && rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /usr/local/include /opt/* \
      /var/lib/apt /var/cache/* /var/log/* /usr/share/man /usr/share/locale /usr/lib/apt /etc/apt \
      /usr/bin/apt* /usr/bin/dpkg* /usr/sbin/dpkg*

FROM scratch
COPY --from=tools / /
WORKDIR /app
COPY --from=build /app /app
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV NODE_ENV=production
# Threads that share what they allocate: 4 MB less of an agent with 1,000 volumes, and none of them allocates much.
ENV MALLOC_ARENA_MAX=1
# Threads that mostly wait, for the disk or for an unmount: with libuv's four, a journal's write would wait for eight unmounts.
ENV UV_THREADPOOL_SIZE=16
# The agent mounts, so it is root; the manifest of the controller runs it as another user.
USER root
# A library's use of punycode is no line of a log that is JSON.
ENTRYPOINT ["node", "--max-semi-space-size=4", "--disable-warning=DEP0040", "/app/main.cjs"]
