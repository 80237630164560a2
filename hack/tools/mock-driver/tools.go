//go:build tools

// Package mockdriver pins the mock driver that the tests of CSI run.
package mockdriver

import _ "github.com/kubernetes-csi/csi-test/v3/cmd/mock-driver"
