//go:build tools

// Package externalresizer pins the external-resizer that the tests of CSI run.
package externalresizer

import _ "github.com/kubernetes-csi/external-resizer/v2/cmd/csi-resizer"
