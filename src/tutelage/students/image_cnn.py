"""A network trained on images, trained on: the teacher itself as a student."""

from __future__ import annotations

from tutelage.students.base import Student
from tutelage.teachers.image_cnn import ImageCNN


class ImageCNNStudent(ImageCNN, Student):
    """The network of `ImageCNN`, all of whose weights move."""

    @classmethod
    def of(cls, teacher: ImageCNN) -> ImageCNNStudent:
        """Beginning where the teacher stands."""
        return cls(
            teacher.value,
            teacher.readout,
            teacher.bias,
            teacher.support,
            teacher.activation,
            teacher.data,
        )

    def network(self) -> ImageCNN:
        """The same weights as a teacher."""
        return ImageCNN(
            self.value, self.readout, self.bias, self.support, self.activation, self.data
        )
