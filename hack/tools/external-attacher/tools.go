//go:build tools

// Package externalattacher pins the external-attacher that the tests of CSI run.
package externalattacher

import _ "github.com/kubernetes-csi/external-attacher/v4/cmd/csi-attacher"
