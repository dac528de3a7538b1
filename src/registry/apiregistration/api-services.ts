import { withoutSpecAndMetadata } from '../../patch/reset-fields.ts'
import type { APIService } from '../../api/apiregistration/v1.ts'
import { builtInGroups } from '../../api/built-in-groups.ts'
import type { FieldError } from '../../api/field.ts'
import { goQuote } from '../../go/quote.ts'
import { invalidValue, notSupported, path, required } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { dns1035Label, dns1123Subdomain, pathSegmentName } from '../../validation/names.ts'
import { validateAnyMeta } from '../../validation/object-meta.ts'
import { base64Length } from '../core/config-maps.ts'
import { timeText } from '../../schema/time.ts'
import { apiServicePrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { metricsServiceWork } from '../autoscaling/autoscaled-work.ts'
import type { Change, Work } from '../work/work.ts'
import { work } from '../work/work.ts'
import type { StoredApiService } from './managed-api-services.ts'
import { managedWork } from './managed-api-services.ts'
import { errorsOf } from '../../validation/errors-of.ts'

export const apiServices: BuiltInDefinition<APIService> = {
  withoutTable: ['status'],
  printer: apiServicePrinter,
  work: (change) => [...availabilityWork(change), ...managedWork(change)],
  workloadWork: [metricsServiceWork],
  nameRule: pathSegmentName,
  allowUnconditionalUpdate: false,
  storagePrefix: 'apiregistration.k8s.io/apiservices',
  resetFields: { status: withoutSpecAndMetadata },
  hasGenericMetadata: true,
  prepareForCreate(object, { now }) {
    object.status = {}
    // the APIServices of this server's own groups exist from the start
    if (!hasService(object)) object.status = { conditions: [localCondition(timeText(now))] }
  },
  leavesNewMetadata: true,
  validate: validateApiService,
  validateUpdate: validateApiService,
  warningsOnCreate: ownVersionWarnings,
  warningsOnUpdate: ownVersionWarnings,
  subresources: {
    status: {
      prepareForUpdate(object, old) {
        const { labels, annotations, finalizers, ownerReferences } = old.metadata
        Object.assign(object.metadata, { labels, annotations, finalizers, ownerReferences })
      },
      validateUpdate: ({ status }) =>
        errorsOf(status?.conditions ?? [], (condition, index) =>
          STATES.includes(condition.status ?? '')
            ? []
            : [notSupported(path('status', 'conditions').index(index).child('status'), condition.status ?? '', STATES)],
        ),
    },
  },
}

const availabilityWork = ({ object, old }: Change<StoredApiService>): readonly Work[] =>
  object === undefined || (old !== undefined && JSON.stringify(object.spec) === JSON.stringify(old.spec))
    ? []
    : work('api-service-availability', object.metadata.name)

const STATES: readonly string[] = ['True', 'False', 'Unknown']

/** kube-apiserver hands its own versions over to the Service. Kedge does not, and says so. */
function ownVersionWarnings({ spec }: APIService): string[] {
  const { group = '', version = '' } = spec ?? {}
  const isOwn = builtInGroups.some((own) => own.group === group && own.versions.some((one) => one.version === version))
  if (!isOwn || spec?.service === undefined || spec.service === null) return []
  const name = group === '' ? version : `${group}/${version}`
  return [`spec.service: this server serves ${name} itself, unless its runtime configuration turns that off`]
}

const hasService = ({ spec }: APIService): boolean => spec?.service !== undefined && spec.service !== null

export const localCondition = (lastTransitionTime: string) => ({
  type: 'Available',
  status: 'True',
  lastTransitionTime,
  reason: 'Local',
  message: 'Local APIServices are always available',
})

const spec = (...names: string[]) => path('spec', ...names)

function validateApiService(object: APIService & KubeObject): FieldError[] {
  const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0 } = object.spec ?? {}
  const wanted = `${version}.${group}`
  const errors = validateAnyMeta(object.metadata, false, (name) => {
    const problems = pathSegmentName(name, false)
    if (problems.length > 0 || name === wanted) return problems
    return [`must be \`spec.version+"."+spec.group\`: ${goQuote(wanted)}`]
  })
  if (group === '' && version !== 'v1')
    errors.push(required(spec('group'), 'only v1 may have an empty group and it better be legacy kube'))
  if (group !== '')
    for (const problem of dns1123Subdomain(group)) errors.push(invalidValue(spec('group'), group, problem))
  for (const problem of dns1035Label(version)) errors.push(invalidValue(spec('version'), version, problem))
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > 20000)
    errors.push(
      invalidValue(spec('groupPriorityMinimum'), groupPriorityMinimum, 'must be positive and less than 20000'),
    )
  if (versionPriority <= 0 || versionPriority > 1000)
    errors.push(invalidValue(spec('versionPriority'), versionPriority, 'must be positive and less than 1000'))
  return [...errors, ...(hasService(object) ? serviceErrors(object) : localErrors(object))]
}

function localErrors({ spec: { caBundle = '', insecureSkipTLSVerify = false } = {} }: APIService): FieldError[] {
  const errors: FieldError[] = []
  const size = base64Length(caBundle)
  if (size > 0)
    errors.push(invalidValue(spec('caBundle'), `${size} bytes`, 'local APIServices may not have a caBundle'))
  if (insecureSkipTLSVerify)
    errors.push(
      invalidValue(spec('insecureSkipTLSVerify'), true, 'local APIServices may not have insecureSkipTLSVerify'),
    )
  return errors
}

function serviceErrors({ spec: { service, caBundle = '', insecureSkipTLSVerify = false } = {} }: APIService) {
  const { namespace = '', name = '', port = 443 } = service ?? {}
  const errors: FieldError[] = []
  if (namespace === '') errors.push(required(spec('service', 'namespace')))
  if (name === '') errors.push(required(spec('service', 'name')))
  if (port < 1 || port > 65535)
    errors.push(
      invalidValue(spec('service', 'port'), port, 'port is not valid: must be between 1 and 65535, inclusive'),
    )
  if (insecureSkipTLSVerify && caBundle !== '')
    errors.push(invalidValue(spec('insecureSkipTLSVerify'), true, 'may not be true if caBundle is present'))
  return errors
}
