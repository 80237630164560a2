module nodevolume.dev/hack/tools/own

go 1.26.0
