//go:build tools

// Package hostpath pins the CSI host-path driver that the tests of CSI run.
package hostpath

import _ "github.com/kubernetes-csi/csi-driver-host-path/cmd/hostpathplugin"
