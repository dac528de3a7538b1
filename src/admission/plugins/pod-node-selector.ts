/**
 * PodNodeSelector: limits the nodes for the pods of a namespace, by an annotation of the namespace or by
 * configuration.
 */
import { invalidValue, path } from '../../api/field.ts'
import { labelKeyErrors, labelValueErrors } from '../../api/label-syntax.ts'
import { ownValue } from '../../base/own.ts'
import { forbidden, notFound, plainError } from '../../api/status.ts'
import { CLUSTER_DEFAULT } from '../../configuration/pod-node-selectors.ts'
import { settingsOf } from '../../settings.ts'
import { namespaceOf } from '../../tenancy/namespaces.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { isOfPods, podOf } from './pod-attributes.ts'

const ANNOTATION = 'scheduler.alpha.kubernetes.io/node-selector'

type Labels = ReadonlyMap<string, string>

export const podNodeSelector: AdmissionPlugin = {
  name: 'PodNodeSelector',
  handles: (attributes) => attributes.operation === 'CREATE' && isOfPods(attributes),
  async admit(attributes) {
    const ofNamespace = await namespaceSelector(attributes)
    checkConflicts(attributes, ofNamespace)
    const spec = (podOf(attributes).spec ??= {})
    if (ofNamespace.size > 0) spec.nodeSelector = { ...Object.fromEntries(ofNamespace), ...spec.nodeSelector }
    checkAllowed(attributes)
  },
  async validate(attributes) {
    checkConflicts(attributes, await namespaceSelector(attributes))
    checkAllowed(attributes)
  },
}

const configured = ({ request }: Attributes, name: string): Labels =>
  labelsOf(settingsOf(request.env).admission.podNodeSelectors.get(name) ?? '')

async function namespaceSelector(attributes: Attributes): Promise<Labels> {
  const { request, namespace } = attributes
  const found = await namespaceOf(request, namespace)
  if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace)
  const annotation = ownValue(found.metadata.annotations, ANNOTATION)
  return annotation === undefined ? configured(attributes, CLUSTER_DEFAULT) : labelsOf(annotation)
}

function checkConflicts(attributes: Attributes, ofNamespace: Labels): void {
  const own = podOf(attributes).spec?.nodeSelector ?? {}
  if (Object.entries(own).some(([key, value]) => (ofNamespace.get(key) ?? value) !== value))
    throw refusal(attributes, 'pod node label selector conflicts with its namespace node label selector')
}

function checkAllowed(attributes: Attributes): void {
  const allowed = configured(attributes, attributes.namespace)
  if (allowed.size === 0) return
  const own = Object.entries(podOf(attributes).spec?.nodeSelector ?? {})
  if (!own.every(([key, value]) => allowed.get(key) === value))
    throw refusal(attributes, 'pod node label selector labels conflict with its namespace whitelist')
}

const refusal = (attributes: Attributes, why: string) =>
  forbidden(attributes.resource, podOf(attributes).metadata.name ?? '', why)

/**
 * Parses `key=value,…`, which allows no other operator.
 * @throws StatusError 500, as in kube-apiserver
 */
function labelsOf(selector: string): Labels {
  if (selector === '') return new Map()
  return new Map(selector.split(',').map(labelIn))
}

function labelIn(text: string): readonly [string, string] {
  const parts = text.split('=')
  if (parts.length !== 2) throw plainError(`invalid selector: [${parts.join(' ')}]`)
  const [key = '', value = ''] = parts.map((part) => part.trim())
  const keyErrors = labelKeyErrors(key)
  // kube-apiserver prints `<nil>` here because it has no path
  if (keyErrors.length > 0) throw plainError(`<nil>: ${wrong(key, keyErrors)}`)
  const valueErrors = labelValueErrors(value)
  if (valueErrors.length > 0) throw plainError(`[${key}]: ${wrong(value, valueErrors)}`)
  return [key, value]
}

const wrong = (value: string, errors: readonly string[]): string =>
  invalidValue(path(), value, errors.join('; ')).message
