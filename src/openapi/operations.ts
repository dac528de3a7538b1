/**
 * The operations of a resource's paths, with the routes and names of apiserver's installer
 * (pkg/endpoints/installer.go, openapi.go).
 */
import { append } from '../base/append.ts'
import type { GroupVersionKind } from '../api/group-version.ts'
import type { ResourceEntry, SubresourceEntry } from '../registry/served/resources.ts'
import type { OperationDialect } from '../registry/served/serving.ts'
import { builtInType, typeOfKind } from '../schema/built-in.ts'
import type { Structural } from '../schema/structural.ts'
import type { Describe } from '../schema/to-openapi.ts'
import { methods, operationIdOf, operationName, rootOf, tagOf } from './operation.ts'
import type { Method, OpenApiSettings, Operation, Parameter, PathItem } from './operation.ts'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const STATUS = `${META}.Status`
const WATCH_EVENT = `${META}.WatchEvent`

/** All paths of a resource, unsorted. */
export const pathsOf = (entry: ResourceEntry, describe: Describe, settings: OpenApiSettings): PathItem[] =>
  new ResourcePaths(entry, describe, settings).all()

class ResourcePaths {
  private readonly root: string
  private readonly kind: GroupVersionKind
  private readonly namespaced: string
  private readonly dialect: OperationDialect

  constructor(
    private readonly entry: ResourceEntry,
    private readonly describe: Describe,
    { cbor }: OpenApiSettings,
  ) {
    this.dialect = entry.serving.operations(cbor)
    this.root = rootOf(entry)
    this.kind = { group: entry.group, version: entry.version, kind: entry.kind }
    this.namespaced = entry.namespaced ? 'Namespaced' : ''
  }

  all(): PathItem[] {
    const collection = this.at(this.root)
    const item = `${collection}/{name}`
    const paths: PathItem[] = [
      { path: collection, operations: this.collection() },
      { path: item, operations: this.item() },
    ]
    if (this.entry.namespaced && this.has('list'))
      paths.push({ path: `${this.root}/${this.entry.resource}`, operations: [this.list('ForAllNamespaces')] })
    if (this.dialect.watches && this.has('watch')) append(paths, this.watchPaths())
    for (const subresource of this.entry.subresources) append(paths, this.subresource(item, subresource))
    return paths.filter(({ operations }) => operations.length > 0)
  }

  private at(root: string): string {
    return `${root}${this.entry.namespaced ? '/namespaces/{namespace}' : ''}/${this.entry.resource}`
  }

  private has(verb: string): boolean {
    return this.entry.verbs.includes(verb)
  }

  private operation(
    method: Method,
    verb: string,
    rest: string,
    action: string,
    description: string,
    more: Pick<Operation, 'parameters' | 'responses'> & Partial<Operation>,
  ): Operation {
    return {
      method,
      tag: tagOf(this.entry.group, this.entry.version),
      operationId: operationIdOf(this.entry, verb, rest),
      description,
      consumes: this.dialect.bodies,
      produces: this.dialect.json,
      action,
      kind: this.kind,
      ...more,
      responses: [...more.responses, { code: 401 }],
    }
  }

  private path(...names: readonly string[]): Parameter[] {
    return names.map((name) => ({
      name,
      in: name === 'pretty' ? 'query' : 'path',
      type: 'string',
      description: this.describe('path', name),
    }))
  }

  /** The parameters `namespace` and `pretty`, which nearly all paths have. */
  private common(): Parameter[] {
    return this.path(...(this.entry.namespaced ? ['namespace'] : []), 'pretty')
  }

  private name(kind: string): Parameter {
    return { name: 'name', in: 'path', type: 'string', description: `name of the ${kind}` }
  }

  /** The fields of an options type, as query parameters. Fields that are no scalars (sinceTime) are left out. */
  private options(model: string, without: readonly string[] = []): Parameter[] {
    return (
      builtInType(model)
        // few: each caller names its own
        .fields.filter(({ name, type }) => !without.includes(name) && type.shape !== 'special')
        .map(({ name, type }) => ({
          name,
          in: 'query',
          type: parameterType(type),
          description: this.describe(model, name),
        }))
    )
  }

  private getOptions(): Parameter[] {
    return this.dialect.getOptions.map((name) => ({
      name,
      in: 'query',
      type: 'string',
      description: this.describe(`${META}.ListOptions`, name),
    }))
  }

  private collection(): Operation[] {
    const { kind, type } = this.entry
    const operations: Operation[] = []
    if (this.has('list')) operations.push(this.list(''))
    if (this.has('create'))
      operations.push(
        this.operation('post', 'create', this.namespaced + kind, 'post', `create ${indefinite(kind)}`, {
          parameters: [...this.options(`${META}.CreateOptions`), ...this.common()],
          body: { model: type, required: true },
          responses: [
            { code: 200, model: type },
            { code: 201, model: type },
            { code: 202, model: type },
          ],
        }),
      )
    if (this.has('deletecollection'))
      operations.push(
        this.operation(
          'delete',
          'delete',
          `Collection${this.namespaced}${kind}`,
          'deletecollection',
          `delete collection of ${kind}`,
          {
            ...(this.dialect.hasCollectionDeleteOptions
              ? {
                  parameters: [
                    ...this.options(`${META}.DeleteOptions`, ['preconditions']),
                    ...this.options(`${META}.ListOptions`, ['watch', 'allowWatchBookmarks']),
                    ...this.common(),
                  ],
                  body: { model: `${META}.DeleteOptions`, required: false },
                }
              : { parameters: [...this.options(`${META}.ListOptions`), ...this.common()] }),
            responses: [{ code: 200, model: STATUS }],
          },
        ),
      )
    return operations
  }

  private list(suffix: '' | 'ForAllNamespaces'): Operation {
    const { kind, type, listKind } = this.entry
    const everywhere = suffix !== ''
    return this.operation(
      'get',
      'list',
      `${everywhere ? '' : this.namespaced}${kind}${suffix}`,
      'list',
      `${this.has('watch') && this.dialect.watches ? 'list or watch' : 'list'} objects of kind ${kind}`,
      {
        produces: this.dialect.watch,
        parameters: [...this.options(`${META}.ListOptions`), ...(everywhere ? this.path('pretty') : this.common())],
        responses: [{ code: 200, model: type.slice(0, type.lastIndexOf('.') + 1) + listKind }],
      },
    )
  }

  private item(): Operation[] {
    const { kind, type } = this.entry
    const name = this.namespaced + kind
    const operations: Operation[] = []
    const path = [this.name(kind), ...this.common()]
    if (this.has('get'))
      operations.push(
        this.operation('get', 'read', name, 'get', `read the specified ${kind}`, {
          parameters: [...this.getOptions(), ...path],
          responses: [{ code: 200, model: type }],
        }),
      )
    if (this.has('update')) operations.push(this.replace(name, `replace the specified ${kind}`, type, path))
    if (this.has('delete')) {
      const model = this.entry.deleteAnswersObject === true ? type : STATUS
      operations.push(
        this.operation('delete', 'delete', name, 'delete', `delete ${indefinite(kind)}`, {
          parameters: [...this.options(`${META}.DeleteOptions`, ['preconditions']), ...path],
          body: { model: `${META}.DeleteOptions`, required: false },
          responses: [
            { code: 200, model },
            { code: 202, model },
          ],
        }),
      )
    }
    if (this.has('patch')) operations.push(this.patch(name, `partially update the specified ${kind}`, type, path))
    return operations
  }

  private replace(name: string, text: string, model: string, path: readonly Parameter[]): Operation {
    return this.operation('put', 'replace', name, 'put', text, {
      parameters: [...this.options(`${META}.UpdateOptions`), ...path],
      body: { model, required: true },
      responses: [
        { code: 200, model },
        { code: 201, model },
      ],
    })
  }

  private patch(name: string, text: string, model: string, path: readonly Parameter[]): Operation {
    return this.operation('patch', 'patch', name, 'patch', text, {
      consumes: this.dialect.patches,
      parameters: [...this.options(`${META}.PatchOptions`), ...path],
      body: { model: `${META}.Patch`, required: true },
      responses: this.dialect.patchCodes.map((code) => ({ code, model })),
    })
  }

  private watchPaths(): PathItem[] {
    const { kind, resource, namespaced } = this.entry
    const root = `${this.root}/watch`
    const listText = `watch individual changes to a list of ${kind}. deprecated: use the 'watch' parameter with a list operation instead.`
    const itemText = `watch changes to an object of kind ${kind}. deprecated: use the 'watch' parameter with a list operation instead, filtered to a single item with the 'fieldSelector' parameter.`
    const collection = this.at(root)
    const paths: PathItem[] = [
      {
        path: collection,
        operations: [this.watch(`${this.namespaced}${kind}List`, 'watchlist', listText, this.common())],
      },
    ]
    if (this.has('get'))
      paths.push({
        path: `${collection}/{name}`,
        operations: [this.watch(this.namespaced + kind, 'watch', itemText, [this.name(kind), ...this.common()])],
      })
    if (namespaced)
      paths.push({
        path: `${root}/${resource}`,
        operations: [this.watch(`${kind}ListForAllNamespaces`, 'watchlist', listText, this.path('pretty'))],
      })
    return paths
  }

  private watch(name: string, action: string, text: string, path: readonly Parameter[]): Operation {
    return this.operation('get', 'watch', name, action, text, {
      produces: this.dialect.watch,
      parameters: [...this.options(`${META}.ListOptions`), ...path],
      responses: [{ code: 200, model: WATCH_EVENT }],
    })
  }

  private subresource(item: string, subresource: SubresourceEntry): PathItem[] {
    const path = `${item}/${subresource.name}`
    if (this.dialect.connects && subresource.kind.endsWith('Options')) return this.connect(path, subresource)
    const { kind } = this.entry
    const what = subresource.name
    const name = this.namespaced + kind + operationName(what, true)
    const { group, version, kind: ownKind } = subresource
    const gvk = this.dialect.subresourceKind === 'its own' ? { group, version, kind: ownKind } : this.kind
    const model = this.modelOfSubresource(subresource)
    const inPath = [this.name(gvk.kind), ...this.common()]
    const operations: Operation[] = []
    for (const verb of subresource.verbs) {
      if (verb === 'get' && what === 'log')
        operations.push(
          this.operation('get', 'read', name, 'get', `read log of the specified ${kind}`, {
            produces: ['text/plain', ...this.dialect.json],
            parameters: [...this.options('io.k8s.api.core.v1.PodLogOptions'), ...inPath],
            responses: [{ code: 200 }],
          }),
        )
      else if (verb === 'get')
        operations.push(
          this.operation('get', 'read', name, 'get', `read ${what} of the specified ${kind}`, {
            parameters: [...this.getOptions(), ...inPath],
            responses: [{ code: 200, model }],
          }),
        )
      else if (verb === 'update')
        operations.push(this.replace(name, `replace ${what} of the specified ${kind}`, model, inPath))
      else if (verb === 'patch')
        operations.push(this.patch(name, `partially update ${what} of the specified ${kind}`, model, inPath))
      else if (verb === 'create')
        operations.push(
          this.operation('post', 'create', name, 'post', `create ${what} of ${indefinite(kind)}`, {
            parameters: [...this.options(`${META}.CreateOptions`), ...inPath],
            body: { model, required: true },
            responses: [
              { code: 200, model },
              { code: 201, model },
              { code: 202, model },
            ],
          }),
        )
    }
    return [{ path, operations: operations.map((operation) => ({ ...operation, kind: gvk })) }]
  }

  private modelOfSubresource({ group, version, kind }: SubresourceEntry): string {
    if (kind === this.entry.kind) return this.entry.type
    const type = typeOfKind({ group, version, kind })
    if (type === undefined) throw new Error(`assertion failed: no type for ${group}/${version} ${kind}`)
    return type.name
  }

  private connect(path: string, subresource: SubresourceEntry): PathItem[] {
    const model = this.modelOfSubresource(subresource)
    const parameters = [
      ...this.options(model),
      this.name(subresource.kind),
      ...this.path(...(this.entry.namespaced ? ['namespace'] : [])),
    ]
    const proxied = subresource.verbs.includes('update')
    const connected: readonly Method[] = proxied ? methods : ['get', 'post']
    const operations = (suffix: string, parameters: readonly Parameter[]): Operation[] =>
      connected.map((method) =>
        this.operation(
          method,
          `connect`,
          operationName(method, true) +
            this.namespaced +
            this.entry.kind +
            operationName(subresource.name, true) +
            suffix,
          'connect',
          `connect ${method.toUpperCase()} requests to ${subresource.name} of ${this.entry.kind}`,
          {
            produces: ['*/*'],
            parameters,
            responses: [{ code: 200 }],
            kind: { group: subresource.group, version: subresource.version, kind: subresource.kind },
          },
        ),
      )
    const paths: PathItem[] = [{ path, operations: operations('', parameters) }]
    if (proxied)
      paths.push({
        path: `${path}/{path}`,
        operations: operations('WithPath', [...parameters, ...this.path('path')]),
      })
    return paths
  }
}

function parameterType(type: Structural): Parameter['type'] {
  if (type.shape === 'list') return parameterType(type.element)
  if (type.shape !== 'leaf') return 'string'
  if (type.scalar === 'bool') return 'boolean'
  return type.scalar === 'int32' || type.scalar === 'int64' ? 'integer' : 'string'
}

/** The kind with its article; plurals have none (apiserver's GetArticleForNoun). */
function indefinite(kind: string): string {
  if (/[^s]s$/.test(kind)) return kind
  return `${/^[aeiou]/i.test(kind) ? 'an' : 'a'} ${kind}`
}
