"""The papers that come with tutelage: one folder each, found by `tutelage.studies.discovery`."""
