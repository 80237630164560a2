{{- /* Of an image: repository, tag, digest. */ -}}
{{- define "nodevolume.image" -}}
{{- if .digest -}}
{{ printf "%s@%s" .repository .digest }}
{{- else -}}
{{ printf "%s:%s" .repository (.tag | toString) }}
{{- end -}}
{{- end -}}

{{- /* What both roles read, as JSON. */ -}}
{{- define "nodevolume.settings" -}}
{{- $settings := dict "NODEVOLUME_ALLOWED_PREFIXES" (.Values.allowedPrefixes | join ",") "NODEVOLUME_LOG_LEVEL" .Values.logLevel "NODEVOLUME_CONTROLLER_ATTACH_DETACH" (.Values.controllerAttachDetach | toString) -}}
{{- if ne .Values.kubeletDir "/var/lib/kubelet" -}}
{{- $_ := set $settings "NODEVOLUME_KUBELET_DIR" .Values.kubeletDir -}}
{{- end -}}
{{- if .Values.flexVolumeDir -}}
{{- $_ := set $settings "NODEVOLUME_FLEX_VOLUME_DIR" .Values.flexVolumeDir -}}
{{- end -}}
{{- $settings | toJson -}}
{{- end -}}

{{- /* As kustomize names it, by what is in it: other settings are another object, and the pods are made anew. */ -}}
{{- define "nodevolume.settingsName" -}}
{{- /* kustomize takes the name for empty. */ -}}
{{- $object := dict "kind" "ConfigMap" "name" "" "data" (include "nodevolume.settings" . | fromJson) -}}
{{- $sum := $object | toJson | sha256sum | trunc 10 -}}
nodevolume-settings-{{ $sum | replace "0" "g" | replace "1" "h" | replace "3" "k" | replace "a" "m" | replace "e" "t" }}
{{- end -}}

{{- /*
The prefixes that need a volume of their own, as a JSON list: none that lies in another one or in the state directory, whose volumes
have it already. What spreads to the node must not lie in another such: each restart of the agent would leave one more copy of it.
*/ -}}
{{- define "nodevolume.prefixes" -}}
{{- $kubelet := list (printf "%s/plugins/nodevolume.dev" .Values.kubeletDir) (printf "%s/pods" .Values.kubeletDir) -}}
{{- $own := list -}}
{{- range $prefix := uniq .Values.allowedPrefixes -}}
{{- range $fixed := append $kubelet "/var/lib/nodevolume" -}}
{{- if and (ne $prefix $fixed) (hasPrefix (printf "%s/" $prefix) (printf "%s/" $fixed)) -}}
{{- fail (printf "allowedPrefixes: %s has %s in it, which the agent mounts as well: name a directory that does not" $prefix $fixed) -}}
{{- end -}}
{{- end -}}
{{- range $fixed := $kubelet -}}
{{- if hasPrefix (printf "%s/" $fixed) (printf "%s/" $prefix) -}}
{{- fail (printf "allowedPrefixes: %s lies in %s, which is kubelet's" $prefix $fixed) -}}
{{- end -}}
{{- end -}}
{{- $covered := hasPrefix "/var/lib/nodevolume/" (printf "%s/" $prefix) -}}
{{- range $other := $.Values.allowedPrefixes -}}
{{- if and (ne $prefix $other) (hasPrefix (printf "%s/" $other) $prefix) -}}
{{- $covered = true -}}
{{- end -}}
{{- end -}}
{{- if not $covered -}}
{{- $own = append $own $prefix -}}
{{- end -}}
{{- end -}}
{{- $own | toJson -}}
{{- end -}}
