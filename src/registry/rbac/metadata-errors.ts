import type { FieldError } from '../../api/field.ts'
import type { ObjectMeta } from '../../api/object.ts'
import { pathSegmentName } from '../../validation/names.ts'
import { validateObjectMeta } from '../../validation/object-meta.ts'

/** kube-apiserver looks at the metadata of these kinds once more when they are updated: its causes repeat. */
export const metadataErrors = (metadata: ObjectMeta, namespaced: boolean): FieldError[] =>
  validateObjectMeta(metadata, namespaced, pathSegmentName)
