import { append } from '../../base/append.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, notSupported, path, required } from '../../api/field.ts'
import type { TypedLocalObjectReference } from '../../api/core/v1.ts'
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressLoadBalancerStatus,
  IngressRule,
  IngressServiceBackend,
  IngressSpec,
  IngressTLS,
} from '../../api/networking/v1.ts'
import { problems, validateLabelText, validatePort, validateSubdomain } from '../../validation/field-rules.ts'
import { ipWarnings, legacyIpErrors, parseIp } from '../../api/ip-addresses.ts'
import { dns1123Subdomain, pathSegmentName, regexText, subdomainName } from '../../validation/names.ts'
import { byteLength } from '../../base/utf8.ts'
import { sentField } from '../../schema/emptied.ts'
import { validateObjectMeta } from '../../validation/object-meta.ts'
import { hostnameErrors } from '../core/services/service-validation.ts'
import { ingressPrinter } from '../../codec/table/networking.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { errorsOf } from '../../validation/errors-of.ts'

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class'
const spec = path('spec')
const statusIngress = path('status', 'loadBalancer', 'ingress')
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const notInPaths = ['//', '/./', '/../', '%2f', '%2F']
const notAtTheEnd = ['/..', '/.']
const WILDCARD = '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'
const WILDCARD_TEXT =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"

/** An update may keep stored values that a create may not set. */
interface Rules {
  readonly anySecretName: boolean
  readonly anyWildcardRule: boolean
}
const strict: Rules = { anySecretName: false, anyWildcardRule: false }

export const ingresses: BuiltInDefinition<Ingress> = {
  printer: ingressPrinter,
  hasGeneration: true,
  storagePrefix: 'ingress',
  validate: (ingress) => [...specErrors(ingress.spec ?? {}, strict), ...classErrors(ingress)],
  validateUpdate: ({ metadata, spec: now = {} }, { spec: old = {} }) => [
    ...validateObjectMeta(metadata, true, subdomainName),
    ...specErrors(now, {
      anySecretName: (old.tls ?? []).some(({ secretName }) => secretName && dns1123Subdomain(secretName).length > 0),
      anyWildcardRule: (old.rules ?? []).some((rule) => rule.host?.includes('*') && ruleErrors(spec, rule).length > 0),
    }),
  ],
  warningsOnCreate: ({ metadata, spec: now }) =>
    metadata.annotations?.[CLASS_ANNOTATION] !== undefined && now?.ingressClassName === undefined
      ? [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
  subresources: {
    status: {
      validateUpdate: ({ status }, old) => statusErrors(status?.loadBalancer ?? {}, old.status?.loadBalancer ?? {}),
      warningsOnUpdate: ({ status }) =>
        (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }, index) =>
          ip ? ipWarnings(statusIngress.index(index), ip) : [],
        ),
    },
  },
}

/** On create only, the annotation and the field that name a class must agree. */
function classErrors({ metadata, spec: now }: Ingress): FieldError[] {
  const annotated = metadata.annotations?.[CLASS_ANNOTATION]
  const named = now?.ingressClassName
  if (annotated === undefined || named === undefined || annotated === named) return []
  const at = path('annotations', CLASS_ANNOTATION)
  return [invalidValue(at, annotated, 'must match `ingressClassName` when both are specified')]
}

function specErrors(now: IngressSpec, rules: Rules): FieldError[] {
  const { defaultBackend, ingressClassName, tls = [] } = now
  const list = now.rules ?? []
  return [
    ...(list.length === 0 && defaultBackend === undefined
      ? [invalidValue(spec, sentField(now, 'rules'), 'either `defaultBackend` or `rules` must be specified')]
      : []),
    ...(defaultBackend === undefined ? [] : backendErrors(spec.child('defaultBackend'), defaultBackend)),
    ...errorsOf(list, (rule, index) => {
      const at = spec.child('rules').index(index)
      const isExcused = rule.host?.includes('*') && rules.anyWildcardRule
      return [...ruleHostErrors(at.child('host'), rule.host ?? ''), ...(isExcused ? [] : ruleErrors(at, rule))]
    }),
    ...errorsOf(tls, (one, index) => tlsErrors(spec.child('tls').index(index), one, rules)),
    ...(ingressClassName === undefined ? [] : validateSubdomain(spec.child('ingressClassName'), ingressClassName)),
  ]
}

function tlsErrors(at: FieldPath, { hosts = [], secretName }: IngressTLS, { anySecretName }: Rules): FieldError[] {
  return [
    ...errorsOf(hosts, (host, index) => hostErrors(at.child('hosts').index(index), host)),
    ...(secretName && !anySecretName ? validateSubdomain(at.child('secretName'), secretName) : []),
  ]
}

const hostErrors = (at: FieldPath, host: string): FieldError[] =>
  host.includes('*') ? problems(at, host, wildcardProblems(host)) : validateSubdomain(at, host)

function wildcardProblems(host: string): string[] {
  return [
    ...(byteLength(host) > 253 ? ['must be no more than 253 characters'] : []),
    ...(new RegExp(`^${WILDCARD}$`).test(host) ? [] : [regexText(WILDCARD_TEXT, WILDCARD, '*.example.com')]),
  ]
}

function ruleHostErrors(at: FieldPath, host: string): FieldError[] {
  if (host === '') return []
  const address = parseIp(host) === undefined ? [] : [invalidValue(at, host, 'must be a DNS name, not an IP address')]
  return [...address, ...hostErrors(at, host)]
}

function ruleErrors(at: FieldPath, { http }: IngressRule): FieldError[] {
  if (http === undefined) return []
  const pathsAt = at.child('http', 'paths')
  const paths = http.paths ?? []
  if (paths.length === 0) return [required(pathsAt)]
  return errorsOf(paths, (one, index) => pathErrors(pathsAt.index(index), one))
}

function pathErrors(at: FieldPath, { path: text = '', pathType, backend = {} }: HTTPIngressPath): FieldError[] {
  if (pathType === undefined) return [required(at.child('pathType'), 'pathType must be specified')]
  const here = at.child('path')
  const errors: FieldError[] = []
  if (!pathTypes.includes(pathType)) errors.push(notSupported(at.child('pathType'), pathType, pathTypes))
  else if (!text.startsWith('/') && (text !== '' || pathType !== 'ImplementationSpecific'))
    errors.push(invalidValue(here, text, 'must be an absolute path'))
  if (pathType === 'Exact' || pathType === 'Prefix') {
    for (const part of notInPaths)
      if (text.includes(part)) errors.push(invalidValue(here, text, `must not contain '${part}'`))
    for (const end of notAtTheEnd)
      if (text.endsWith(end)) errors.push(invalidValue(here, text, `cannot end with '${end}'`))
  }
  return [...errors, ...backendErrors(at.child('backend'), backend)]
}

function backendErrors(at: FieldPath, { resource, service }: IngressBackend): FieldError[] {
  if (resource !== undefined && service !== undefined)
    return [invalidValue(at, '', 'cannot set both resource and service backends')]
  if (resource !== undefined) return resourceErrors(at.child('resource'), resource)
  if (service !== undefined) return serviceErrors(at, service)
  return [invalidValue(at, '', 'resource or service backend is required')]
}

function resourceErrors(at: FieldPath, { apiGroup, kind, name }: TypedLocalObjectReference): FieldError[] {
  const segment = (field: string, text: string | undefined) =>
    text ? problems(at.child(field), text, pathSegmentName(text, false)) : [required(at.child(field))]
  return [
    ...(apiGroup === undefined ? [] : validateSubdomain(at.child('apiGroup'), apiGroup)),
    ...segment('kind', kind),
    ...segment('name', name),
  ]
}

function serviceErrors(at: FieldPath, { name, port = {} }: IngressServiceBackend): FieldError[] {
  const nameAt = at.child('service', 'name')
  const errors = name ? validateLabelText(nameAt, name) : [required(nameAt)]
  const portAt = at.child('service', 'port')
  if (port.name && port.number) errors.push(invalidValue(at, '', 'cannot set both port name & port number'))
  else if (port.name) append(errors, validatePort(portAt.child('name'), port.name))
  else if (port.number) append(errors, validatePort(portAt.child('number'), port.number))
  else errors.push(required(at, 'port name or number is required'))
  return errors
}

function statusErrors({ ingress = [] }: IngressLoadBalancerStatus, old: IngressLoadBalancerStatus): FieldError[] {
  const existing = new Set((old.ingress ?? []).flatMap(({ ip }) => (ip ? [ip] : [])))
  return errorsOf(ingress, ({ ip, hostname }, index) => {
    const at = statusIngress.index(index)
    return [
      ...(ip ? legacyIpErrors(at.child('ip'), ip, existing) : []),
      ...hostnameErrors(hostname, at.child('hostname')),
    ]
  })
}
