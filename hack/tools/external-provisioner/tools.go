//go:build tools

// Package externalprovisioner pins the external-provisioner that the tests of CSI run.
package externalprovisioner

import _ "github.com/kubernetes-csi/external-provisioner/v6/cmd/csi-provisioner"
