//go:build tools

// Package lint pins the actionlint that reads the workflows.
package lint

import _ "github.com/rhysd/actionlint/cmd/actionlint"
