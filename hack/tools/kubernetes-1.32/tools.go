//go:build tools

// Package oldest pins the kube-apiserver of the oldest Kubernetes that is supported.
package oldest

import _ "k8s.io/kubernetes/cmd/kube-apiserver"
