import type { FieldError } from '../../api/field.ts'
import { forbiddenField, notSupportedString, path, required, tooLong } from '../../api/field.ts'
import type { IngressClass, IngressClassParametersReference, IngressClassSpec } from '../../api/networking/v1.ts'
import {
  immutable,
  problems,
  validateDomainPath,
  validateLabelText,
  validateSubdomain,
} from '../../validation/field-rules.ts'
import { pathSegmentName, subdomainName } from '../../validation/names.ts'
import { byteLength } from '../../base/utf8.ts'
import { validateObjectMeta } from '../../validation/object-meta.ts'
import { ingressClassPrinter } from '../../codec/table/networking.ts'
import { defaultRule } from '../../schema/default-rules.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'

const MAX_CONTROLLER = 250
const scopes = ['Cluster', 'Namespace']
const controller = path('spec', 'controller')
const parameters = path('spec', 'parameters')

export const ingressClasses: BuiltInDefinition<IngressClass> = {
  defaults: { v1: defaultRule<IngressClass>(applyDefaults) },
  printer: ingressClassPrinter,
  hasGeneration: true,
  validate: ({ spec }) => specErrors(spec ?? {}),
  validateUpdate: ({ metadata, spec = {} }, old) => [
    ...immutable(controller, spec.controller ?? '', (spec.controller ?? '') === (old.spec?.controller ?? '')),
    ...validateObjectMeta(metadata, false, subdomainName),
    ...specErrors(spec),
  ],
}

const specErrors = (spec: IngressClassSpec): FieldError[] => [
  ...(byteLength(spec.controller ?? '') > MAX_CONTROLLER ? [tooLong(controller, MAX_CONTROLLER)] : []),
  ...validateDomainPath(controller, spec.controller ?? ''),
  ...(spec.parameters === undefined ? [] : parametersErrors(spec.parameters)),
]

function parametersErrors({ apiGroup, kind, name, scope, namespace }: IngressClassParametersReference): FieldError[] {
  const segment = (field: string, text: string | undefined) =>
    text ? problems(parameters.child(field), text, pathSegmentName(text, false)) : [required(parameters.child(field))]
  return [
    ...(apiGroup === undefined ? [] : validateSubdomain(parameters.child('apiGroup'), apiGroup)),
    ...segment('kind', kind),
    ...segment('name', name),
    ...scopeErrors(scope, namespace),
  ]
}

function scopeErrors(scope: string | undefined, namespace: string | undefined): FieldError[] {
  const scopeAt = parameters.child('scope')
  const at = parameters.child('namespace')
  if (scope === undefined) return [required(scopeAt)]
  if (!scopes.includes(scope)) return [notSupportedString(scopeAt, scope, scopes)]
  if (scope === 'Cluster')
    return namespace === undefined ? [] : [forbiddenField(at, "`parameters.scope` is set to 'Cluster'")]
  return namespace === undefined
    ? [required(at, "`parameters.scope` is set to 'Namespace'")]
    : validateLabelText(at, namespace)
}

function applyDefaults({ spec }: IngressClass): void {
  if (spec!.parameters !== undefined) spec!.parameters.scope ??= 'Cluster'
}
