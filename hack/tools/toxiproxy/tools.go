//go:build tools

// Package toxiproxy pins the proxy that spoils connections to the API server in tests.
package toxiproxy

import _ "github.com/Shopify/toxiproxy/v2/cmd/server"
