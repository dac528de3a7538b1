import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import type { FieldError } from '../../api/field.ts'

export const validateDefinition = (_definition: CustomResourceDefinition): FieldError[] => []
export const validateDefinitionUpdate = (
  _definition: CustomResourceDefinition,
  _old: CustomResourceDefinition,
): FieldError[] => []
export const validateDefinitionStatus = (
  _definition: CustomResourceDefinition,
  _old: CustomResourceDefinition,
): FieldError[] => []
