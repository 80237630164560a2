//go:build tools

// Package csisanity pins the csi-sanity that the tests of CSI run.
package csisanity

import _ "github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity"
