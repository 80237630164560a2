//go:build tools

// Package kubernetes pins the kube-apiserver that quickstart and the tests run.
package kubernetes

import _ "k8s.io/kubernetes/cmd/kube-apiserver"
