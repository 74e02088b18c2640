package telemetry

import (
	"reflect"
	"strings"
	"testing"
)

// A field of a type of the SDK makes every package that uses the struct compile the SDK's generic code again: that was
// 4 MB of object code in each of three packages, one after the other.
func TestNoTypeOfTheSDKIsHandedOn(t *testing.T) {
	for _, s := range []reflect.Type{reflect.TypeFor[Export](), reflect.TypeFor[Bridge](), reflect.TypeFor[Options](), reflect.TypeFor[ExportOptions]()} {
		for f := range s.Fields() {
			of := f.Type
			for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
				of = of.Elem()
			}
			if strings.Contains(of.PkgPath(), "/otel/sdk/") {
				t.Errorf("%s.%s has the type %s: use an interface", s, f.Name, f.Type)
			}
		}
	}
}
