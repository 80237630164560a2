//go:build tools

// Package kwok pins the kwok that pretends nodes and pods for the benchmark of large clusters.
package kwok

import _ "sigs.k8s.io/kwok/cmd/kwok"
