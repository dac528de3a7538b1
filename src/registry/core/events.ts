/** Events of both groups, with the field names of core/v1. Storage uses these names, and so do error messages. */
import type { Event, EventSource, ObjectReference } from '../../api/core/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path, required } from '../../api/field.ts'
import { immutable, validateQualifiedName, validateSubdomain } from '../../validation/field-rules.ts'
import { subdomainName } from '../../validation/names.ts'
import { byteLength } from '../../base/utf8.ts'
import { validateKindMetaUpdate, validateObjectMeta } from '../../validation/object-meta.ts'
import { sameValue } from '../../validation/same-value.ts'
import { eventPrinter } from '../../codec/table/core.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { conversion } from '../conversion.ts'
import { fromCore, toCore } from '../events/conversion.ts'

const MAX_TEXT = 128
const MAX_MESSAGE = 1024
const CORE = 'v1'
const UNSET = 'needs to be unset'
const types = ['Normal', 'Warning']

export const events: BuiltInDefinition<Event> = {
  printer: eventPrinter,
  conversions: { 'events.k8s.io/v1': conversion(toCore, fromCore) },
  ownsNothing: true,
  quota: 'uncounted',
  allowCreateOnUpdate: true,
  ignoresCollector: true,
  leavesNewMetadata: true,
  validate: (event, { apiVersion }) => [
    ...commonErrors(event, apiVersion),
    ...(apiVersion === CORE
      ? []
      : [...validateObjectMeta(event.metadata, true, subdomainName), ...newEventErrors(event)]),
  ],
  metadataOnUpdate: 'by strategy',
  validateUpdate: (event, old, { apiVersion }) => [
    ...commonErrors(event, apiVersion),
    ...(apiVersion === CORE
      ? []
      : [...validateKindMetaUpdate(event.metadata, old.metadata), ...changeErrors(event, old)]),
  ],
  selectableFields({ involvedObject: about = {}, source, reportingComponent = '', reason = '', type = '' }) {
    return {
      'involvedObject.kind': about.kind ?? '',
      'involvedObject.namespace': about.namespace ?? '',
      'involvedObject.name': about.name ?? '',
      'involvedObject.uid': about.uid ?? '',
      'involvedObject.apiVersion': about.apiVersion ?? '',
      'involvedObject.resourceVersion': about.resourceVersion ?? '',
      'involvedObject.fieldPath': about.fieldPath ?? '',
      reason,
      reportingComponent,
      source: source?.component || reportingComponent,
      type,
    }
  },
}

/** Events of events.k8s.io have an eventTime. Core events with an eventTime follow the same rules. */
const isNew = ({ eventTime }: Event): boolean => eventTime !== undefined && eventTime !== null

function commonErrors(event: Event, apiVersion: string): FieldError[] {
  const namespace = event.metadata.namespace ?? ''
  const about = event.involvedObject?.namespace ?? ''
  const at = path('involvedObject', 'namespace')
  // an event about an object without a namespace is in `default`; a new event may also be in kube-system
  const homes = isNew(event) ? ['default', 'kube-system'] : ['', 'default']
  const isElsewhere = about === '' ? !homes.includes(namespace) : !isNew(event) && about !== namespace
  return [
    ...(isElsewhere ? [invalidValue(at, about, 'does not match event.namespace')] : []),
    ...(isNew(event) ? reporterErrors(event, apiVersion) : []),
    ...validateSubdomain(path('namespace'), namespace),
  ]
}

function reporterErrors(event: Event, apiVersion: string): FieldError[] {
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '', message = '' } = event
  const controllerAt = path(apiVersion === CORE ? 'reportingComponent' : 'reportingController')
  const text = (field: string, value: string) => [
    ...(value === '' ? [required(path(field))] : []),
    ...tooLongErrors(field, value, MAX_TEXT),
  ]
  return [
    ...(reportingComponent === '' ? [required(controllerAt)] : []),
    ...validateQualifiedName(controllerAt, reportingComponent),
    ...text('reportingInstance', reportingInstance),
    ...text('action', action),
    ...text('reason', reason),
    ...tooLongErrors('message', message, MAX_MESSAGE),
  ]
}

const tooLongErrors = (field: string, value: string, max: number): FieldError[] =>
  byteLength(value) > max ? [invalidValue(path(field), '', `can have at most ${max} characters`)] : []

/** Further rules of events.k8s.io. An event of that group may not set the old fields of the core group. */
function newEventErrors(event: Event): FieldError[] {
  const { type = '', firstTimestamp, lastTimestamp, count, source = {} } = event
  const unset = (field: string, isSet: boolean) => (isSet ? [invalidValue(path(field), '', UNSET)] : [])
  return [
    ...seriesErrors(event),
    ...(isNew(event) ? [] : [required(path('eventTime'))]),
    ...(types.includes(type) ? [] : [invalidValue(path('type'), '', `has invalid value: ${type}`)]),
    ...unset('firstTimestamp', !!firstTimestamp),
    ...unset('lastTimestamp', !!lastTimestamp),
    ...unset('count', !!count),
    ...unset('source', !!source.component || !!source.host),
  ]
}

function seriesErrors({ series }: Event): FieldError[] {
  if (series === undefined) return []
  return [
    ...((series.count ?? 0) < 2 ? [invalidValue(path('series.count'), '', 'should be at least 2')] : []),
    ...(series.lastObservedTime ? [] : [required(path('series.lastObservedTime'))]),
  ]
}

/** An update may change only the series of a new event. */
function changeErrors(event: Event, old: Event): FieldError[] {
  const kept = (field: string, value: unknown, before: unknown) =>
    immutable(path(field), value, JSON.stringify(value) === JSON.stringify(before))
  const text = (field: keyof Event) => kept(field, event[field] ?? '', old[field] ?? '')
  const time = (field: keyof Event) => kept(field, event[field] ?? null, old[field] ?? null)
  const isSameSeries = sameValue('io.k8s.api.core.v1.EventSeries', event.series, old.series)
  return [
    ...(isSameSeries ? [] : seriesErrors(event)),
    ...kept('involvedObject', asPrinted(event.involvedObject ?? {}), asPrinted(old.involvedObject ?? {})),
    ...text('reason'),
    ...text('message'),
    ...kept('source', sourceAsPrinted(event.source ?? {}), sourceAsPrinted(old.source ?? {})),
    ...time('firstTimestamp'),
    ...time('lastTimestamp'),
    ...kept('count', event.count ?? 0, old.count ?? 0),
    ...text('reason'),
    ...text('type'),
    ...time('eventTime'),
    ...text('action'),
    ...kept('related', event.related && asPrinted(event.related), old.related && asPrinted(old.related)),
    ...kept('reportingController', event.reportingComponent ?? '', old.reportingComponent ?? ''),
    ...text('reportingInstance'),
  ]
}

/** kube-apiserver prints the field names of its internal type. */
const asPrinted = (reference: ObjectReference) => ({
  Kind: reference.kind ?? '',
  Namespace: reference.namespace ?? '',
  Name: reference.name ?? '',
  UID: reference.uid ?? '',
  APIVersion: reference.apiVersion ?? '',
  ResourceVersion: reference.resourceVersion ?? '',
  FieldPath: reference.fieldPath ?? '',
})

const sourceAsPrinted = ({ component = '', host = '' }: EventSource) => ({ Component: component, Host: host })
