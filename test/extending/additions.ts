/** A small kind, plug-in, controller and setting, added as docs/extending.md tells its readers. */

/** A change to one file of the tree: a new file, or lines inserted before existing ones. */
export type Addition = { readonly file: string } & (
  | { readonly text: string }
  | { readonly before: string; readonly insert: string }
  | { readonly change: (text: string) => string }
)

export interface Walk {
  /** The heading in docs/extending.md. */
  readonly heading: string
  readonly additions: readonly Addition[]
  /** The test that the page asks the reader to write. */
  readonly test: string
}

const kind: Walk = {
  heading: 'A built-in kind',
  additions: [
    // step 1: the lines that `npm run generate` writes when the facts have a kind like ConfigMap
    { file: 'src/schema/built-in-table.json', change: withZebra },
    {
      file: 'src/registry/resources-table.json',
      before: '    {"resource":"configmaps"',
      insert: '    {"resource":"zebras","kind":"Zebra","shortNames":["zb"],"hash":"zebra"},\n',
    },
    {
      file: 'src/registry/core/zebras.ts',
      text: `import type { ConfigMap } from '../../api/core/v1.ts'
import { path, required } from '../../api/field.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'

export const zebras: BuiltInDefinition<ConfigMap> = {
  hasGeneration: true,
  validate: ({ data }) => (data === undefined ? [required(path('data'), 'a zebra has stripes')] : []),
}
`,
    },
    {
      file: 'src/registry/core/definitions.ts',
      before: "import { configMaps } from './config-maps.ts'",
      insert: "import { zebras } from './zebras.ts'\n",
    },
    { file: 'src/registry/core/definitions.ts', before: '  configmaps: ', insert: '  zebras: untyped(zebras),\n' },
    {
      file: 'src/storage/collections.ts',
      change: (text) => text.replace('new Set<string>([])', "new Set<string>(['zebras'])"),
    },
  ],
  test: `test('a kind is served, with a strategy and a shard of its own', async () => {
  const server = pluginServer()
  await server.namespace('blue')
  const zebras = '/api/v1/namespaces/blue/zebras'
  const zebra = { apiVersion: 'v1', kind: 'Zebra', metadata: { name: 'a' } }
  expect(await server.send('POST', zebras, zebra)).toMatchObject({
    code: 422,
    body: { message: 'Zebra "a" is invalid: data: Required value: a zebra has stripes' },
  })
  expect(await server.send('POST', zebras, { ...zebra, data: { stripes: '12' } })).toMatchObject({
    code: 201,
    body: { kind: 'Zebra', metadata: { generation: 1 } },
  })
  const { storage, tenant } = server.memory
  const collection = { tenant: tenant.uid, shard: 'built-in:zebras', prefix: 'built-in:zebras' }
  expect(await storage.get(collection, 'blue/a')).toBeDefined()
})`,
}

/** Copies ConfigMap under a name that sorts last in its package, so that no other type moves. */
function withZebra(text: string): string {
  const table = JSON.parse(text) as { packages: string[][] } // generated, so of this form
  const core = table.packages.find(([name]) => name === 'io.k8s.api.core.v1')!
  const [kinds, types] = [core[2]!.split(' '), core[3]!.split('\n')]
  for (const suffix of ['', 'List']) types.push(types[kinds.indexOf(`ConfigMap${suffix}`)]!)
  core[2] = `${core[2]} Zebra ZebraList`
  core[3] = types.join('\n')
  return JSON.stringify(table)
}

const plugin: Walk = {
  heading: 'An admission plug-in',
  additions: [
    {
      file: 'src/admission/plugins/label-keeper.ts',
      text: `/** LabelKeeper: a label \`kept\` stays. */
import type { AdmissionPlugin } from '../attributes.ts'
import { admissionForbidden } from '../forbidden.ts'

export const labelKeeper: AdmissionPlugin = {
  name: 'LabelKeeper',
  handles: ({ operation }) => operation === 'UPDATE',
  validate(attributes) {
    const has = (object = attributes.object) => object?.metadata.labels?.kept !== undefined
    if (has(attributes.oldObject) && !has()) throw admissionForbidden(attributes, 'the label stays')
  },
}
`,
    },
    {
      file: 'src/configuration/admission-plugins.ts',
      before: '  AlwaysDeny: false,',
      insert: '  LabelKeeper: false,\n',
    },
    {
      file: 'src/admission/chain.ts',
      before: "import { limitRanger } from './plugins/limit-ranger.ts'",
      insert: "import { labelKeeper } from './plugins/label-keeper.ts'\n",
    },
    { file: 'src/admission/chain.ts', before: '  AlwaysDeny: alwaysDeny,', insert: '  LabelKeeper: labelKeeper,\n' },
  ],
  test: `test('a plug-in runs where a setting says so', async () => {
  const map = (labels: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels } })
  for (const [settings, code] of [[{}, 200], [{ KEDGE_ENABLE_ADMISSION_PLUGINS: 'LabelKeeper' }, 403]] as const) {
    const server = pluginServer(settings)
    await server.namespace('blue')
    const maps = '/api/v1/namespaces/blue/configmaps'
    await server.send('POST', maps, map({ kept: '1' }))
    expect(await server.send('PUT', \`\${maps}/a\`, map({}))).toHaveProperty('code', code)
  }
})`,
}

const controller: Walk = {
  heading: 'A controller',
  additions: [
    { file: 'src/registry/work/topic.ts', before: "  | 'api-service-availability'", insert: "  | 'map-counter'\n" },
    {
      file: 'src/registry/core/config-maps.ts',
      before: '    // the server writes a new CA into this ConfigMap',
      insert: "    ...(old === undefined ? work('map-counter', object?.metadata.namespace) : []),\n",
    },
    {
      file: 'src/controllers/map-counter.ts',
      text: `/** Says on a Namespace how many ConfigMaps it has. Key: the namespace. */
import type { Controller } from './controller.ts'
import { managerClients } from './client/clientset.ts'
import { named } from './client/resource-client.ts'

export const mapCounter: Controller = {
  async reconcile(namespace, context) {
    const clients = managerClients(context)
    const count = (await clients.resource({ group: '', resource: 'configmaps' }, namespace).list()).length
    const annotations = { maps: String(count) }
    await clients
      .resource({ group: '', resource: 'namespaces' })
      .patch(named(namespace), 'application/merge-patch+json', { metadata: { annotations } })
    return undefined
  },
}
`,
    },
    {
      file: 'src/controllers/controllers.ts',
      before: 'import { namespaceController,',
      insert: "import { mapCounter } from './map-counter.ts'\n",
    },
    {
      file: 'src/controllers/controllers.ts',
      before: '  namespace: namespaceController,',
      insert: "  'map-counter': mapCounter,\n",
    },
    {
      file: 'src/controllers/client/controller-users.ts',
      before: "  'api-service-availability': API_SERVER,",
      insert: "  'map-counter': namespaces,\n",
    },
  ],
  test: `test('a controller has work after a write', async () => {
  const plane = await newPlane()
  await plane.configMap('a')
  await plane.settle()
  const namespace = await plane.get({ group: '', resource: 'namespaces' }, '', 'default')
  // with kube-root-ca.crt
  expect(namespace?.metadata.annotations).toEqual({ maps: '2' })
})`,
}

const setting: Walk = {
  heading: 'A setting',
  additions: [
    {
      file: 'src/env.ts',
      before: '  /** Content-Encoding of streams:',
      insert: '  /** What the server says of itself. */\n  readonly KEDGE_MOTTO?: string\n',
    },
    {
      file: 'src/settings/schema.ts',
      before: '  KEDGE_STREAM_ENCODING: z.optional',
      insert: "  KEDGE_MOTTO: z.optional(matching(/^[a-z ]+$/, 'must be small letters')),\n",
    },
    { file: 'src/settings.ts', before: '  readonly administratorToken: ', insert: '  readonly motto: string\n' },
    {
      file: 'src/settings.ts',
      before: '    administratorToken: values',
      insert: "    motto: values.KEDGE_MOTTO ?? '',\n",
    },
  ],
  test: `test('a setting is parsed, and refused where it is wrong', () => {
  const settings = (motto: string) => settingsOf({ KEDGE_ADMIN_TOKEN: 'a'.repeat(32), KEDGE_MOTTO: motto } as Partial<Env> as Env)
  expect(settings('less is more').motto).toBe('less is more')
  expect(() => settings('MORE')).toThrow('KEDGE_MOTTO must be small letters')
})`,
}

export const walks: readonly Walk[] = [kind, plugin, controller, setting]

export const TEST_FILE = 'test/added.test.ts'

/** The tests of all additions, in one file. */
export const testText = `import { expect, test } from 'vitest'
import type { Env } from '../src/env.ts'
import { settingsOf } from '../src/settings.ts'
import { pluginServer } from './admission/plugin-server.ts'
import { newPlane } from './controllers/reconcile.ts'

${walks.map(({ test }) => test).join('\n\n')}
`

/** The page's example of a controller's reads and writes, as a module that compiles. */
export function exampleOf(page: string): string {
  const example = /^```ts\n([^]*?)^```$/m.exec(page)?.[1]
  if (example === undefined) throw new Error('docs/extending.md has no example')
  return `import type { Pod, PodSpec } from '../api/core/v1.ts'
import type { OwnerReference } from '../api/meta/v1.ts'
import type { KubeObject } from '../api/object.ts'
import { clientsetFor, typedResource } from './client/clientset.ts'
import type { ControllerContext } from './controller.ts'

export async function example(
  context: ControllerContext,
  given: { namespace: string; uid: string; nodeName: string; ownerReferences: OwnerReference[]; spec: PodSpec },
) {
  const { namespace, uid, nodeName, ownerReferences, spec } = given
${example}
  return all
}
`
}
