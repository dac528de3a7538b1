/** Turns CustomResourceDefinitions into served resources, for routing, discovery and OpenAPI. */
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../../api/apiextensions/v1.ts'
import type { GroupVersionKind } from '../../api/group-version.ts'
import { lazy } from '../../base/lazy.ts'
import type { JsonObject } from '../../api/object.ts'
import { bytesToBase64 } from '../../base/base64.ts'
import { sha256 } from '../../base/sha256.ts'
import { customModelName } from './custom-model-name.ts'
import { customServing } from './custom-serving.ts'
import { customStorageOf } from '../../storage/collections.ts'
import type { ResourceEntry, ServedGroup, ServedVersion, SubresourceEntry } from '../served/resources.ts'
import { CUSTOM_GROUP_PRIORITY, CUSTOM_VERSION_PRIORITY } from '../served/resources.ts'
import { sortedVersions } from '../served/served-groups.ts'
import { compareVersions } from '../../api/version-order.ts'
import { isEstablished, isNamespaced, isTerminating, storageVersion, versionNamed, versionsOf } from './definition.ts'

/** The verbs in the order of kube-apiserver's discovery. */
const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const TERMINATING_VERBS = ['delete', 'deletecollection', 'get', 'list', 'watch']
const SUBRESOURCE_VERBS = ['get', 'patch', 'update']

const groups = new WeakMap<readonly CustomResourceDefinition[], { readonly served: ServedGroup | undefined }>()

/**
 * The served resources of one group's definitions, with versions in the order of preference. The same list of
 * definitions gives the same value. Undefined if no definition is established.
 */
export function customGroup(group: string, definitions: readonly CustomResourceDefinition[]): ServedGroup | undefined {
  let known = groups.get(definitions)
  if (known === undefined) groups.set(definitions, (known = { served: makeGroup(group, definitions) }))
  return known.served
}

function makeGroup(group: string, definitions: readonly CustomResourceDefinition[]): ServedGroup | undefined {
  const versions = new Map<string, Declared[]>()
  for (const definition of definitions) {
    if (!isEstablished(definition)) continue
    for (const version of versionsOf(definition)) {
      if (!version.served) continue
      const name = version.name ?? ''
      const declared = versions.get(name)
      if (declared === undefined) versions.set(name, [[definition, version]])
      else declared.push([definition, version])
    }
  }
  if (versions.size === 0) return undefined
  return sortedVersions({
    group,
    priority: CUSTOM_GROUP_PRIORITY,
    versions: [...versions].map(([version, declared]) => customVersion(version, declared)),
  })
}

type Declared = readonly [CustomResourceDefinition, CustomResourceDefinitionVersion]

/** A version makes its entries on first use, because a definition may have thousands of versions. */
function customVersion(version: string, declared: readonly Declared[]): ServedVersion {
  const resources = lazy(() => declared.map(([definition, of]) => entryOf(definition, of)))
  return {
    version,
    priority: CUSTOM_VERSION_PRIORITY,
    get resources() {
      return resources()
    },
  }
}

/** What the entries of all versions of a definition share. It is found once, because there may be thousands. */
class DefinitionEntries {
  /** Bound: the versions of the definition. */
  private readonly byVersion = new Map<string, ResourceEntry>()
  readonly stored: string
  /** Undefined where no client can ask for the stored version. */
  readonly storageHash = lazy(() =>
    versionNamed(this.definition, this.stored)?.served ? storageVersionHash(this.definition, this.stored) : undefined,
  )
  /** The newest version that is served and not deprecated. */
  private readonly newest = lazy(() => newestOf(this.definition))

  constructor(private readonly definition: CustomResourceDefinition) {
    this.stored = storageVersion(definition)
  }

  entryOf(version: CustomResourceDefinitionVersion): ResourceEntry {
    const name = version.name ?? ''
    let entry = this.byVersion.get(name)
    if (entry === undefined) this.byVersion.set(name, (entry = makeEntry(this.definition, version, this)))
    return entry
  }

  deprecationOf({ name = '', deprecationWarning }: CustomResourceDefinitionVersion): string {
    if (deprecationWarning !== undefined) return deprecationWarning
    const { group, names } = this.definition.spec ?? {}
    const text = `${group}/${name} ${names?.kind} is deprecated`
    const newest = this.newest()
    const isBetter = newest !== undefined && compareVersions(newest, name) < 0
    return isBetter ? `${text}; use ${group}/${newest} ${names?.kind}` : text
  }
}

function newestOf(definition: CustomResourceDefinition): string | undefined {
  let newest: string | undefined
  for (const { name = '', served, deprecated } of versionsOf(definition))
    if (served && !deprecated && (newest === undefined || compareVersions(name, newest) < 0)) newest = name
  return newest
}

/** An entry goes with its definition. */
const entries = new WeakMap<CustomResourceDefinition, DefinitionEntries>()

/** The same state of a definition gives the same entry. */
export function entryOf(definition: CustomResourceDefinition, version: CustomResourceDefinitionVersion): ResourceEntry {
  let ofDefinition = entries.get(definition)
  if (ofDefinition === undefined) entries.set(definition, (ofDefinition = new DefinitionEntries(definition)))
  return ofDefinition.entryOf(version)
}

function makeEntry(
  definition: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  shared: DefinitionEntries,
): ResourceEntry {
  const { spec, status } = definition
  const group = spec?.group ?? ''
  const name = version.name ?? ''
  // an established definition has all of these names, and keeps them if an update asks for names that another one has
  const { plural = '', singular = '', kind = '', listKind = '', shortNames, categories } = status?.acceptedNames ?? {}
  const namespaced = isNamespaced(definition)
  const selectable = (version.selectableFields ?? []).map(({ jsonPath = '' }) => jsonPath)
  return {
    group,
    version: name,
    resource: plural,
    singular,
    kind,
    listKind,
    namespaced,
    verbs: isTerminating(definition) ? TERMINATING_VERBS : VERBS,
    type: customModelName(group, name, kind),
    shortNames: shortNames ?? [],
    categories: categories ?? [],
    subresources: subresourcesOf(version, { group, version: name, kind }),
    serving: customServing,
    persisted: true,
    storage: { ...customStorageOf({ group, resource: plural }), version: shared.stored },
    // a getter, because only discovery needs it
    get storageVersionHash() {
      return shared.storageHash()
    },
    fieldSelectors: [
      'metadata.name',
      ...(namespaced ? ['metadata.namespace'] : []),
      ...selectable.map((path) => path.replace(/^\./, '')),
    ],
    openApi: {
      schemaOf: {
        uid: definition.metadata.uid,
        generation: definition.metadata.generation,
        // after a restore a generation may come again with another content; a revision never does
        revision: definition.metadata.resourceVersion,
      },
      // a getter, because most requests need no schema
      get schema() {
        // a schema is JSON, but its interface does not say so
        return version.schema?.openAPIV3Schema as unknown as JsonObject | undefined
      },
      ...(spec?.preserveUnknownFields ? { preserveUnknownFields: true } : {}),
      ...(selectable.length === 0 ? {} : { selectableFields: selectable }),
    },
    ...((version.additionalPrinterColumns ?? []).length === 0
      ? {}
      : { printerColumns: version.additionalPrinterColumns }),
    ...(version.deprecated ? { deprecationWarning: shared.deprecationOf(version) } : {}),
    definition,
  }
}

function subresourcesOf({ subresources }: CustomResourceDefinitionVersion, kind: GroupVersionKind): SubresourceEntry[] {
  return [
    ...(subresources?.status ? [{ name: 'status', ...kind, verbs: SUBRESOURCE_VERBS }] : []),
    ...(subresources?.scale
      ? [{ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: SUBRESOURCE_VERBS }]
      : []),
  ]
}

/** The hash that discovery lists: the first 8 bytes of the digest of `group/version/kind`. */
const storageVersionHash = ({ spec, status }: CustomResourceDefinition, version: string): string =>
  bytesToBase64(sha256(`${spec?.group ?? ''}/${version}/${status?.acceptedNames?.kind ?? ''}`).subarray(0, 8))
