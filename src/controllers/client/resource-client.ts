/** A client of one resource in one namespace, for one actor (client-go's ResourceInterface). */
import { apiVersionOf } from '../../api/group-version.ts'
import type { GroupVersionKind } from '../../api/group-version.ts'
import { cloneInParts } from '../../json/clone-json.ts'
import { inParts } from '../../base/parts.ts'
import type { Scale } from '../../api/autoscaling/v1.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { asJson } from '../../api/object.ts'
import { notFound } from '../../api/status.ts'
import { stringify } from '../../json/write-json.ts'
import { decodeObject } from '../../codec/decode/decode.ts'
import type { WriteResult } from '../../codec/stored-object.ts'
import { liveOf } from '../../codec/stored-object.ts'
import type { PatchTypeName } from '../../patch/patch-types.ts'
import { inRequestVersion } from '../../registry/converted.ts'
import type { Deleted } from '../../registry/write/delete.ts'
import { deleteEach, deleteObject } from '../../registry/write/delete.ts'
import type { ResourceScope } from '../../registry/resource-scope.ts'
import { defaultingOf, endpointKind, endpointType, keyOf } from '../../registry/resource-scope.ts'
import type { ResourceEntry } from '../../registry/served/resources.ts'
import { ofKind } from '../../registry/resource.ts'
import { resourceScope } from '../../registry/scope.ts'
import { readLive } from '../../registry/store.ts'
import { trackingFields } from '../../registry/track-fields.ts'
import type { Actor } from '../../registry/write/actor.ts'
import { auditedScope } from '../../registry/write/audited-scope.ts'
import type { WritingVerb } from '../../registry/write/audited-scope.ts'
import { create } from '../../registry/write/create.ts'
import type { PatchBody } from '../../registry/write/patch.ts'
import { APPLY, patch } from '../../registry/write/patch.ts'
import { undoing } from '../../registry/write/undo.ts'
import { update, updateWith } from '../../registry/write/update.ts'
import type { DeleteOptions, PatchOptions } from '../../request/options.ts'
import { finished, noteManyValues, walked } from '../../request/turns.ts'
import { typeOfKind } from '../../schema/built-in.ts'
import { applyDefaults } from '../../schema/defaulting.ts'
import { changePages } from '../../storage/shards/change-pages.ts'
import type { Steps } from '../../base/slices.ts'
import { slicesByLength, turnOfHeavy } from '../../base/slices.ts'
import { parseFieldSelector } from '../../storage/selectors/field-selector.ts'
import { parseLabelSelector } from '../../storage/selectors/label-selector.ts'
import { linesOf } from '../../storage/streams/lines.ts'
import type { Selection } from '../../storage/selectors/selection.ts'
import type { Revision, StoredValue } from '../../storage/storage.ts'
import { controllerCall } from './controller-call.ts'
import type { ControllerContext } from '../controller.ts'
import { isHead, LARGE_POD, podHead } from './pod-head.ts'
import { unitsOfPart, unitsOfText } from '../work/list-room.ts'
import { parsedOnce } from '../work/parsed-once.ts'

export interface ListOptions {
  readonly labelSelector?: string
  /** Labels that must have these values. */
  readonly labels?: Readonly<Record<string, string>>
  readonly fieldSelector?: string
  readonly fields?: Readonly<Record<string, string>>
  /** The uid of an owner: only its dependents match. */
  readonly owner?: string
  /** Whether the objects are shared: each version is parsed once, and no caller may change it. */
  readonly shared?: boolean
}

export interface ApplyOptions {
  /** Default: the field manager of the actor. */
  readonly fieldManager?: string
  readonly subresource?: string
}

/** The uid is that of the target. */
export interface DeletionOptions extends Omit<DeleteOptions, 'preconditions'> {
  readonly resourceVersion?: string
}

interface Changed<O> {
  readonly key: string
  readonly object: O | undefined
  /** The length of the text in UTF-16 units. */
  readonly length: number
}

/** One page of changes. The next page begins where this one ends. */
export interface Changes<O> {
  readonly revision: Revision
  /** Whether the caller must forget earlier objects. */
  readonly reset: boolean
  /** The changed objects with their keys, NAMESPACE/NAME or NAME. An object that is gone is undefined. */
  readonly changed: readonly Changed<O>[]
}

/** The object that a caller has read and judged. Another object that has got its name since is left alone. */
export interface Judged {
  readonly metadata: { readonly name?: string; readonly uid?: string }
}

export interface Named {
  readonly named: string
}

/** Whatever object has the name, for callers that own the name. */
export const named = (name: string): Named => ({ named: name })

export type Target = Judged | Named

interface Place {
  readonly name: string
  /** Undefined: any object of the name. */
  readonly uid: string | undefined
}

function placeOf(target: Target): Place {
  if ('named' in target) return { name: target.named, uid: undefined }
  const { name = '', uid } = target.metadata
  if (!uid) throw new Error(`assertion failed: ${name} was not read before it is written`)
  return { name, uid }
}

/** Throws the StatusErrors that a client would get. */
export class ResourceClient<O extends KubeObject = KubeObject> {
  constructor(
    private readonly context: ControllerContext,
    private readonly actor: Actor,
    private readonly entry: ResourceEntry,
    private readonly namespace: string,
  ) {}

  /** The kind and version of what `apply` takes: the storage version need not be served. */
  get typeMeta(): { readonly kind: string; readonly apiVersion: string } {
    const { kind } = this.entry
    return { kind, apiVersion: apiVersionOf(this.entry) }
  }

  /** Undefined where the object does not exist. */
  async get(name: string): Promise<O | undefined> {
    return this.typed((await readLive(this.call(name), name))?.object)
  }

  /**
   * The subresource `scale`: null where the resource has none, undefined where the object does not exist. A
   * cluster-scoped resource has none within a namespace, where a user with rights in the namespace may ask for it.
   */
  async scale(name: string): Promise<Scale | undefined | null> {
    const { entry, namespace } = this
    const isServed =
      entry.namespaced === (namespace !== '') && entry.subresources.some((subresource) => subresource.name === 'scale')
    const view = isServed ? this.call(name, 'scale').resource.view : undefined
    if (view === undefined) return null
    const object = await this.get(name)
    if (object === undefined) return undefined
    view.checkRead?.(object)
    return view.of(object) as Scale // the view of `scale` makes a Scale
  }

  /** A PUT of the subresource `scale`. @throws StatusError as `update` does */
  async updateScale(scale: Scale & KubeObject): Promise<void> {
    const scope = this.putting(scale, 'scale')
    await update(scope, await decoded(scope, scale), this.options, this.actor.admission)
  }

  /** Those of the namespaces that have an object. */
  async occupied(namespaces: readonly string[]): Promise<readonly string[]> {
    const { storage, collection } = this.call('')
    return storage.occupied(collection, namespaces)
  }

  /** The objects that have one of the names, one after the other. */
  async *several(names: readonly string[]): AsyncGenerator<O> {
    const scope = this.call('')
    const keys = names.map((name) => keyOf(scope, name))
    for await (const [, stored] of scope.storage.several(scope.collection, keys)) yield this.stored(scope, stored)
  }

  /** Of a large pod it has the head alone. @throws TooMuchListed */
  async list(options: ListOptions = {}): Promise<O[]> {
    // those of one namespace would fail the work for others
    if (this.entry.namespaced && this.namespace === '')
      throw new Error(`assertion failed: all ${this.entry.resource} are listed at once`)
    const { resource } = this.entry
    const items: O[] = []
    for await (const [object, text] of this.read(options)) {
      const [kept, units] = this.kept(object, text)
      this.context.room.take(units, resource, this.namespace)
      items.push(kept)
    }
    return items
  }

  /** What `keep` makes of each object. It is small, whatever users write into their objects. */
  async eachKept<Kept>(options: ListOptions, keep: (object: O) => Kept): Promise<Kept[]> {
    const items: Kept[] = []
    for await (const [object] of this.read(options)) items.push(keep(object))
    return items
  }

  private get isOfPods(): boolean {
    const { group, resource } = this.entry.storage
    return group === '' && resource === 'pods'
  }

  /** What a list keeps of an object, and the units of it. */
  private kept(object: O, text: string): [kept: O, units: number] {
    const whole = unitsOfText(text)
    if (text.length <= LARGE_POD || !this.isOfPods) return [object, whole]
    const head = this.typed(podHead(object))
    return [head, unitsOfPart(head, whole)]
  }

  /** Like `list`, one object after the other, and each of them whole. */
  async *each(options: ListOptions = {}): AsyncGenerator<O> {
    for await (const [object] of this.read(options)) yield object
  }

  /** The objects and their texts. */
  private async *read(options: ListOptions): AsyncGenerator<readonly [object: O, text: string]> {
    const scope = this.call('')
    const { values, revision } = await scope.storage.list(scope.collection, {
      ...(scope.resource.namespaced && scope.place.namespace !== '' ? { namespace: scope.place.namespace } : {}),
      selection: selectionOf(options),
      at: { kind: 'latest' },
    })
    const { budget } = this.context
    let isFirst = true
    for await (const text of linesOf(values, () => budget.turn())) {
      // the lines come some time after the answer
      if (isFirst) await budget.room()
      isFirst = false
      yield [this.stored(scope, { revision, text }, options.shared), text]
    }
    if (isFirst) await budget.room()
  }

  /**
   * The latest state of all objects that changed after a revision, in all namespaces. Where the log no longer has that
   * revision: of all existing objects. Only for a resource with a shard of its own.
   * @param shared as in ListOptions
   */
  async *changes(since?: Revision, shared = false): AsyncGenerator<Changes<O>> {
    const scope = this.call('')
    const { collection } = scope
    const prefix = `${collection.prefix}/`
    for await (const { revision, reset, changed } of changePages(scope.storage, collection, since)) {
      const slices = [...slicesByLength(changed, ({ text }) => text?.length ?? 0)]
      for (const [at, slice] of slices.entries()) {
        if (at > 0) await turnOfHeavy()
        const objects = slice.map(({ key, revision: at, text }) => ({
          key: key.slice(prefix.length),
          object: text === undefined ? undefined : this.stored(scope, { revision: at, text }, shared),
          length: text?.length ?? 0,
        }))
        // the changes are sorted by revision
        const upTo = at === slices.length - 1 ? revision : slice.at(-1)!.revision
        yield { revision: upTo, reset: reset && at === 0, changed: objects }
      }
    }
  }

  /** The object may have generateName. @param shared as in ListOptions. @throws StatusError AlreadyExists */
  async create(object: O, shared = false): Promise<O> {
    const scope = this.writing('create', '')
    return this.written(scope, await this.insert(scope, object), shared)
  }

  /** Like `create`, for callers that do not need the stored object: it is not parsed. */
  async add(object: O): Promise<void> {
    await this.insert(this.writing('create', ''), object)
  }

  private async insert(scope: ResourceScope, object: O): Promise<WriteResult> {
    return create(scope, await decoded(scope, object), this.options, this.actor.admission)
  }

  /**
   * A PUT: a resourceVersion in the object must be the present one.
   * @throws StatusError Conflict also where another object has the name by now
   */
  async update(object: O): Promise<O> {
    const scope = this.putting(object, '')
    return this.written(scope, await this.put(scope, object))
  }

  async updateStatus(object: O): Promise<O> {
    const scope = this.putting(object, 'status')
    return this.written(scope, await this.put(scope, object))
  }

  /**
   * Writes the status for callers that do not need the stored object: it is not parsed.
   * @param known the object that the caller just read. It is not read again: the compare and swap notices later changes
   */
  async putStatus(object: O, known?: O): Promise<void> {
    await this.put(this.putting(object, 'status'), object, known)
  }

  /**
   * @param change edits the object in place, and runs again after a conflict
   * @returns the stored object; the old one if nothing changed
   * @throws StatusError NotFound also where another object has the name by now
   */
  async updateWithRetries(target: Target, change: (object: O) => void, subresource = ''): Promise<O> {
    const { name, uid } = placeOf(target)
    const scope = this.writing('update', name, subresource)
    const typed = (object: KubeObject) => this.typed(object)
    const { fieldManager } = this.options
    const { result } = await updateWith(scope, this.options, this.actor.admission, {
      mayCreate: false,
      *wanted(live) {
        // never undefined: an absent object is a NotFound before
        if (uid !== undefined && live!.metadata.uid !== uid) throw notFound(scope.resource.gvr, name)
        const wanted = typed(yield* inParts(() => cloneInParts(live!)))
        change(wanted)
        const object = yield* decoding(scope, wanted)
        yield* trackingFields(scope, live, object, fieldManager)
        return object
      },
    })
    return this.written(scope, result)
  }

  updateStatusWithRetries(target: Target, change: (object: O) => void): Promise<O> {
    return this.updateWithRetries(target, change, 'status')
  }

  /**
   * @param body the list of operations of a JSON patch; an object to merge for the other types
   * @throws StatusError NotFound also where another object has the name by now
   */
  patch(target: Target, type: Exclude<PatchTypeName, typeof APPLY>, body: unknown, subresource = ''): Promise<O> {
    return this.patched(target, subresource, { type, bytes: jsonBytes(body), mayCreate: false }, this.options)
  }

  /**
   * Server-side apply with force, which takes over fields of other managers. It creates an absent object only of a
   * given name.
   * @throws StatusError NotFound also where another object has the name by now
   */
  apply(
    target: Target,
    config: Omit<JsonObject & KubeObject, 'metadata'>,
    { fieldManager = this.actor.fieldManager, subresource = '' }: ApplyOptions = {},
  ): Promise<O> {
    const { name, uid } = placeOf(target)
    const readApplied = function* () {
      return { tree: yield* inParts(() => cloneInParts({ ...config, metadata: { name } })), repeated: [] }
    }
    const body = { type: APPLY, bytes: new Uint8Array(), readApplied, mayCreate: uid === undefined } as const
    return this.patched(target, subresource, body, { ...this.options, fieldManager, force: true })
  }

  /**
   * @param known the object that the caller just read, as in putStatus
   * @throws StatusError Conflict where another object has the name by now
   */
  delete(target: Target, { resourceVersion, ...options }: DeletionOptions = {}, known?: O): Promise<Deleted> {
    const { name, uid } = placeOf(target)
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    }
    const scope = this.writing('delete', name)
    // a head is not what is stored
    const whole = known === undefined || isHead(known) ? undefined : { known }
    return deleteObject(scope, name, { ...options, preconditions }, this.actor.admission, whole)
  }

  /** A DELETE of the collection: admission sees each object, and no name. @throws StatusError of the first refusal */
  async deleteCollection(
    targets: readonly Target[],
    options: Omit<DeleteOptions, 'preconditions'> = {},
  ): Promise<void> {
    await deleteEach(this.writing('delete', ''), targets.map(placeOf), options, this.actor.admission)
  }

  /**
   * A POST to a subresource that acts on its body (pods/binding), after admission.
   * @param object admission may change it in place
   */
  async post<P extends KubeObject>(
    name: string,
    subresource: string,
    kind: GroupVersionKind,
    object: P,
    act: (scope: ResourceScope) => Promise<void>,
  ): Promise<void> {
    const scope = this.writing('create', name, subresource)
    const type = typeOfKind(kind)
    if (type === undefined) throw new Error(`assertion failed: ${kind.kind} is no built-in kind`)
    const posted = { ...scope, resource: ofKind(scope.resource, kind, type) }
    const { admission } = this.actor
    await admission.mutate(posted, 'CREATE', this.options, { object })
    const undo = await admission.validate(posted, 'CREATE', this.options, { object })
    await (undo === undefined ? act(scope) : undoing(scope.request, () => act(scope), undo))
  }

  /** A PUT compares the uid in the object that it stores. */
  private putting(object: Judged, subresource: string): ResourceScope {
    return this.writing('update', placeOf(object).name, subresource)
  }

  private async put(scope: ResourceScope, object: O, known?: O): Promise<WriteResult> {
    // a list has the heads of large pods, which must not take their place
    if (this.isOfPods && isHead(object))
      throw new Error(`assertion failed: ${object.metadata.name} is not as it was read`)
    const { result } = await update(scope, await decoded(scope, object), this.options, this.actor.admission, { known })
    return result
  }

  private async patched(
    target: Target,
    subresource: string,
    body: Omit<PatchBody, 'uid'>,
    options: PatchOptions,
  ): Promise<O> {
    const { name, uid } = placeOf(target)
    const scope = this.writing('patch', name, subresource)
    const { result } = await patch(scope, { ...body, uid }, options, this.actor.admission)
    return this.written(scope, result)
  }

  /** The scope of one call, which counts as a request with its own time and audit id. */
  call(name: string, subresource = ''): ResourceScope {
    const { context, entry, actor, namespace } = this
    return resourceScope(controllerCall(context, actor.user), entry, { name, subresource, namespace })
  }

  private writing(verb: WritingVerb, name: string, subresource = ''): ResourceScope {
    return auditedScope(this.call(name, subresource), verb)
  }

  private get options(): PatchOptions {
    return { dryRun: false, fieldManager: this.actor.fieldManager, fieldValidation: 'Ignore', force: undefined }
  }

  private stored(scope: ResourceScope, stored: StoredValue, shared = false): O {
    const parse = () => scope.resource.currentForm(liveOf(stored).object)
    return this.typed(shared ? parsedOnce(this.context.tenant, stored.text, parse) : parse())
  }

  private async written(scope: ResourceScope, result: WriteResult, shared = false): Promise<O> {
    const { stored } = result
    if (shared && stored !== undefined && scope.resource.converter === undefined)
      return this.stored(scope, stored, shared)
    const shown = await inRequestVersion(scope, stored ?? result.object)
    if (!('text' in shown)) return this.typed(shown)
    const live = liveOf(shown)
    return this.typed(await walked(scope.request, () => live.object))
  }

  // the resource stores only objects of its type
  private typed(object: KubeObject): O
  private typed(object: KubeObject | undefined): O | undefined
  private typed(object: KubeObject | undefined): O | undefined {
    return object as O | undefined
  }
}

const selectionOf = ({ labelSelector = '', fieldSelector = '', labels, fields, owner }: ListOptions): Selection => ({
  labels: [
    ...parseLabelSelector(labelSelector),
    ...Object.entries(labels ?? {}).map(([key, value]) => ({ key, operator: 'In', values: [value] }) as const),
  ],
  fields: [
    ...parseFieldSelector(fieldSelector),
    ...Object.entries(fields ?? {}).map(([field, value]) => ({ field, operator: '=', value }) as const),
  ],
  ...(owner === undefined ? {} : { owner }),
})

/** The object in normal form with defaults, like the body of a request. A large one is decoded in parts. */
async function decoded(scope: ResourceScope, sent: KubeObject): Promise<KubeObject> {
  noteManyValues(scope.request, sent)
  return finished(scope.request, decoding(scope, sent))
}

function* decoding(scope: ResourceScope, sent: KubeObject): Steps<KubeObject> {
  const type = endpointType(scope)
  const kind = endpointKind(scope)
  const defaulting = defaultingOf(scope)
  const copy = yield* inParts(() => cloneInParts(asJson(sent)))
  const { object } = yield* inParts(() => decodeObject(type, copy))
  yield* inParts(() => applyDefaults(type, object, defaulting))
  // every type of an endpoint has metadata, which decoding fills in
  return Object.assign(object as unknown as KubeObject, { kind: kind.kind, apiVersion: apiVersionOf(kind) })
}

// every object is JSON
const jsonBytes = (value: unknown): Uint8Array => new TextEncoder().encode(stringify(value as JsonObject))
