import type { FieldError } from '../../api/field.ts'
import type { ObjectMeta } from '../../api/object.ts'
import { rbacName } from '../../validation/names.ts'
import { validateObjectMeta } from '../../validation/object-meta.ts'

/** kube-apiserver validates the metadata of these kinds twice on update, so its errors come twice. */
export const metadataErrors = (metadata: ObjectMeta, namespaced: boolean): FieldError[] =>
  validateObjectMeta(metadata, namespaced, rbacName)
