//go:build tools

// Package score pins the kube-score that looks at what is installed.
package score

import _ "github.com/zegl/kube-score/cmd/kube-score"
