/**
 * Query parameters → the options of a verb (meta/v1 ListOptions, CreateOptions, …). The first value of a repeated
 * parameter counts; unknown ones are ignored. Text that cannot be parsed is 400; a parsed value that makes no sense is
 * 422.
 */
import { goQuote } from '../go/quote.ts'
import { append } from '../base/append.ts'
import { forbiddenField, invalidValue, notSupported, notSupportedString, path, required } from '../api/field.ts'
import type { FieldError } from '../api/field.ts'
import { badRequest, invalid } from '../api/status.ts'
import { parseFieldSelector } from '../storage/selectors/field-selector.ts'
import { parseLabelSelector } from '../storage/selectors/label-selector.ts'
import { validateFieldManager } from '../api/field-manager.ts'
import { isTrue } from './request-info.ts'
import type { QueryParameters } from './query-parameters.ts'

const META_GROUP = 'meta.k8s.io'

export interface ListOptions {
  readonly labelSelector: string
  readonly fieldSelector: string
  readonly watch: boolean
  readonly allowWatchBookmarks: boolean
  readonly resourceVersion: string
  readonly resourceVersionMatch: string
  readonly sendInitialEvents: boolean | undefined
  readonly timeoutSeconds: number | undefined
  /** 0 means no limit. */
  readonly limit: number
  readonly continue: string
  /** kube-apiserver reads the objects in pages, though the client asks for no limit. */
  readonly inPages?: true
}

/**
 * @param forceWatch whether the path makes it a watch
 * @param enabled whether a feature gate is on
 */
export function parseListOptions(
  query: QueryParameters,
  forceWatch: boolean,
  enabled: (gate: string) => boolean,
): ListOptions {
  // without the gate kube-apiserver does not know it; with the gate the client would take all objects for a part of them
  if (enabled('ShardedListAndWatch') && (query.get('shardSelector') ?? '') !== '')
    throw badRequest('this server divides no lists and watches: the parameter shardSelector must be empty')
  const options: ListOptions = {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    watch: forceWatch || flag(query, 'watch') === true,
    allowWatchBookmarks: flag(query, 'allowWatchBookmarks') === true,
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    sendInitialEvents: flag(query, 'sendInitialEvents'),
    timeoutSeconds: int64(query, 'timeoutSeconds'),
    limit: Math.max(0, int64(query, 'limit') ?? 0),
    continue: query.get('continue') ?? '',
  }
  // without watch=true the options are validated as those of a list, even where the path makes it a watch
  const errors = flag(query, 'watch') === true ? watchErrors(options, enabled('WatchList')) : listErrors(options)
  if (errors.length > 0) {
    // errors of selectors come first
    parseLabelSelector(options.labelSelector)
    parseFieldSelector(options.fieldSelector)
    throw invalid({ group: META_GROUP, kind: 'ListOptions' }, '', errors)
  }
  return options
}

const MATCHES = ['Exact', 'NotOlderThan', '']
const match = path('resourceVersionMatch')

function listErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = []
  const { resourceVersionMatch, resourceVersion } = options
  if (resourceVersionMatch !== '') {
    if (resourceVersion === '')
      errors.push(forbiddenField(match, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
    if (options.continue !== '')
      errors.push(forbiddenField(match, 'resourceVersionMatch is forbidden when continue is provided'))
    if (!MATCHES.includes(resourceVersionMatch)) errors.push(notSupported(match, resourceVersionMatch, MATCHES))
    if (resourceVersionMatch === 'Exact' && resourceVersion === '0')
      errors.push(forbiddenField(match, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  if (options.sendInitialEvents !== undefined)
    errors.push(forbiddenField(path('sendInitialEvents'), 'sendInitialEvents is forbidden for list'))
  return errors
}

function watchErrors(options: ListOptions, watchList: boolean): FieldError[] {
  const errors: FieldError[] = []
  const { resourceVersionMatch } = options
  if (options.sendInitialEvents !== undefined && resourceVersionMatch !== 'NotOlderThan')
    errors.push(forbiddenField(match, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  if (options.sendInitialEvents !== undefined && !watchList)
    errors.push(
      forbiddenField(
        path('sendInitialEvents'),
        'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
      ),
    )
  if (resourceVersionMatch !== '') {
    if (options.sendInitialEvents === undefined)
      errors.push(
        forbiddenField(match, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
      )
    if (resourceVersionMatch !== 'NotOlderThan')
      errors.push(notSupported(match, resourceVersionMatch, ['NotOlderThan']))
  }
  if (options.continue !== '' && hasMatch(options, watchList))
    errors.push(forbiddenField(match, 'resourceVersionMatch is forbidden when continue is provided'))
  return errors
}

/** A watch that begins with all objects has a match by default. */
const hasMatch = (
  { resourceVersion, resourceVersionMatch, sendInitialEvents }: ListOptions,
  watchList: boolean,
): boolean =>
  resourceVersionMatch !== '' || (watchList && sendInitialEvents === undefined && ['', '0'].includes(resourceVersion))

/** @throws StatusError 400 where the client asks for the object without what the server added to it */
export function checkGetOptions(query: QueryParameters): void {
  if (flag(query, 'export') === true)
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
}

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

export interface WriteOptions {
  readonly dryRun: boolean
  /** The owner of the written fields; '' where the query has none. */
  readonly fieldManager: string
  readonly fieldValidation: FieldValidation
}

export const parseCreateOptions = (query: QueryParameters): WriteOptions => writeOptions(query, 'CreateOptions')
export const parseUpdateOptions = (query: QueryParameters): WriteOptions => writeOptions(query, 'UpdateOptions')

export interface PatchOptions extends WriteOptions {
  readonly force: boolean | undefined
}

export function parsePatchOptions(query: QueryParameters, isApply: boolean): PatchOptions {
  const force = flag(query, 'force')
  const errors: FieldError[] = []
  if (isApply) {
    if (!query.get('fieldManager')) errors.push(required(path('fieldManager'), 'is required for apply patch'))
  } else if (force !== undefined) errors.push(forbiddenField(path('force'), 'may not be specified for non-apply patch'))
  return { ...writeOptions(query, 'PatchOptions', errors), force }
}

function writeOptions(query: QueryParameters, kind: string, before: readonly FieldError[] = []): WriteOptions {
  const fieldManager = query.get('fieldManager') ?? ''
  const fieldValidation = query.get('fieldValidation') ?? ''
  const dryRun = query.getAll('dryRun')
  const errors = [...before, ...validateFieldManager(fieldManager, path('fieldManager')), ...dryRunErrors(dryRun)]
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(fieldValidation))
    errors.push(notSupportedString(path('fieldValidation'), fieldValidation, ['', 'Ignore', 'Strict', 'Warn']))
  if (errors.length > 0) throw invalid({ group: META_GROUP, kind }, '', errors)
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    // one of the three, as checked above; '' means the default
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
  }
}

function dryRunErrors(dryRun: readonly string[]): FieldError[] {
  return dryRun.every((value) => value === 'All') ? [] : [notSupported(path('dryRun'), dryRun, ['All'])]
}

/** meta/v1 DeleteOptions, from the body or the query. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | bigint
  readonly propagationPolicy?: string
  readonly orphanDependents?: boolean
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly dryRun?: readonly string[]
}

export function deleteOptionsOfQuery(query: QueryParameters): DeleteOptions {
  const grace = int64(query, 'gracePeriodSeconds')
  const orphanDependents = flag(query, 'orphanDependents')
  const propagationPolicy = query.get('propagationPolicy')
  // an empty one is none; in a body it is a precondition that no object meets
  const uid = query.get('uid') || null
  const resourceVersion = query.get('resourceVersion') || null
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(propagationPolicy === null ? {} : { propagationPolicy }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(uid === null && resourceVersion === null
      ? {}
      : {
          preconditions: {
            ...(uid === null ? {} : { uid }),
            ...(resourceVersion === null ? {} : { resourceVersion }),
          },
        }),
    dryRun: query.getAll('dryRun'),
  }
}

/** @throws StatusError 422 with all problems */
export function checkDeleteOptions(options: DeleteOptions): void {
  const errors: FieldError[] = []
  const at = path('propagationPolicy')
  if (options.orphanDependents !== undefined && options.propagationPolicy !== undefined)
    errors.push(
      invalidValue(at, options.propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'),
    )
  if (
    options.propagationPolicy !== undefined &&
    !['Foreground', 'Background', 'Orphan'].includes(options.propagationPolicy)
  )
    errors.push(notSupported(at, options.propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']))
  append(errors, dryRunErrors(options.dryRun ?? []))
  if (errors.length > 0) throw invalid({ group: META_GROUP, kind: 'DeleteOptions' }, '', errors)
}

const flag = (query: QueryParameters, name: string): boolean | undefined => {
  const value = query.get(name)
  return value === null ? undefined : isTrue(value)
}

const INT64_MAX = 9223372036854775807n

/** Parses like Go's strconv.ParseInt in base 10. Values beyond 2^53 are rounded, which is exact enough here. */
function int64(query: QueryParameters, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: invalid syntax`)
  const value = BigInt(text.replace('+', ''))
  if (value > INT64_MAX || value < -INT64_MAX - 1n)
    throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: value out of range`)
  return Number(value)
}
