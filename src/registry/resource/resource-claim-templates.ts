import type { ResourceClaimTemplate } from '../../api/resource/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import {
  FIELD_IS_IMMUTABLE,
  validateKindMetaUpdate,
  validateObjectMeta,
  validateTemplateMeta,
} from '../../validation/object-meta.ts'
import { subdomainName } from '../../validation/names.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { sameValue } from '../../validation/same-value.ts'
import { resourceClaimTemplatePrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import type { StrategyContext } from '../strategy.ts'
import { adminAccessErrors } from './admin-access.ts'
import { deviceClaimErrors, requestedAdminAccess } from './device-claim.ts'
import { templateRules } from './claim-work.ts'
import { selectorsOf, withSelectors } from './device-selectors.ts'
import { conversion } from '../conversion.ts'
import { claimTemplateFromV1beta1, claimTemplateToV1beta1 } from './conversion.ts'

type Template = ResourceClaimTemplate & KubeObject

const SPEC_TYPE = 'io.k8s.api.resource.v1.ResourceClaimTemplateSpec'

export const resourceClaimTemplates: BuiltInDefinition<Template> = {
  printer: resourceClaimTemplatePrinter,
  workloadWork: templateRules,
  conversions: { 'resource.k8s.io/v1beta1': conversion(claimTemplateFromV1beta1, claimTemplateToV1beta1) },
  validate: async (template, context) => [
    // as in kube-apiserver, the error has the path that the field has in a claim
    ...(await adminAccessErrors(requestedAdminAccess(template.spec?.spec?.devices), context)),
    ...(await specErrors(template, context)),
  ],
  metadataOnUpdate: 'by strategy',
  validateUpdate: async (template, { metadata, spec: old = {} }, context) => [
    ...validateObjectMeta(template.metadata, true, subdomainName),
    ...(await specErrors(template, context)),
    ...validateKindMetaUpdate(template.metadata, metadata),
    ...(sameValue(SPEC_TYPE, template.spec, old)
      ? []
      : [invalidValue(path('spec'), internalJson(SPEC_TYPE, template.spec ?? {}), FIELD_IS_IMMUTABLE)]),
  ],
}

const specErrors = async (
  { spec: { metadata = {}, spec = {} } = {} }: Template,
  context: Pick<StrategyContext, 'enabled'>,
): Promise<FieldError[]> => [
  ...validateTemplateMeta(metadata, path('spec', 'metadata')),
  ...(await withSelectors(selectorsOf(spec.devices), context, (selectorsErrors) =>
    deviceClaimErrors(spec.devices ?? {}, path('spec', 'spec', 'devices'), selectorsErrors),
  )),
]
