import type { PodTemplate } from '../../api/core/v1.ts'
import { path } from '../../api/field.ts'
import { templateRules, validatePodTemplate } from '../../validation/pod/pod-template.ts'
import { templateWarnings } from '../../validation/pod/pod-warnings.ts'
import { podTemplatePrinter } from '../../codec/table/core.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { dropDisabledPodFields } from './pods/pod-disabled-fields.ts'

const at = path('template')

export const podTemplates: BuiltInDefinition<PodTemplate> = {
  podTemplate: ({ template }) => template,
  printer: podTemplatePrinter,
  hasGeneration: true,
  prepareForCreate({ template }, { enabled }) {
    dropDisabledPodFields(template?.spec, undefined, enabled)
  },
  prepareForUpdate({ template }, old, { enabled }) {
    dropDisabledPodFields(template?.spec, old.template?.spec, enabled)
  },
  validate: ({ template = {} }, context) => validatePodTemplate(at, template, templateRules(context)),
  validateUpdate: ({ template = {} }, old, context) =>
    validatePodTemplate(at, template, templateRules(context, old.template)),
  warningsOnCreate: ({ template = {} }) => templateWarnings(at, template),
  warningsOnUpdate: ({ metadata, template = {} }, old) =>
    metadata.generation === old.metadata.generation ? [] : templateWarnings(at, template),
}
