//go:build tools

// Package helm pins the Helm that shows that the chart is what kustomize makes.
package helm

import _ "helm.sh/helm/v3/cmd/helm"
