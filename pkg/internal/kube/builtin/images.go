package builtin

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/base/imagename"
)

// images returns why the kubelet does not start a container.
func images(object any, at *field.Path) field.ErrorList {
	c, ok := object.(*corev1.Container)
	if !ok || c.Image == "" {
		return nil
	}
	return invalid(c.Image, Image(c.Image), at.Child("image")).WithOrigin(OriginImage)
}

// Image returns why the kubelet refuses an image with the reason InvalidImageName.
func Image(name string) []string {
	if err := imagename.Validate(name); err != nil {
		return []string{"the kubelet refuses it (InvalidImageName): " + err.Error()}
	}
	return nil
}
