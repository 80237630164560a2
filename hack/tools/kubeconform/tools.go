//go:build tools

// Package conform pins the kubeconform that reads the schemas of a release.
package conform

import _ "github.com/yannh/kubeconform/cmd/kubeconform"
