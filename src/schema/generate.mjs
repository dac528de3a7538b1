// `npm run generate`: makes the committed tables from the facts about the built-in types of a Kubernetes release.
//
//   node src/schema/generate.mjs [--facts DIR] [--check]
//
// The facts are not part of this project. `npm run facts -- --release 1.36` makes those about types, resources and
// feature gates from Kubernetes' published modules, in .facts. A running kube-apiserver provides the others
// (docs/releases.md). The default of DIR is the first that exists of $KEDGE_FACTS, ../shared/kubernetes/v1.36 and
// .facts/v1.36. A table whose facts are not in DIR stays unchanged. `--check` writes nothing. It fails where a
// committed file differs, and where DIR has no facts to compare it with.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { builtInTable } from './generate-table.mjs'
import { generateTypes } from './generate-types.mjs'
import { columnsTable, defaultsTable } from './generate-defaults.mjs'
import { generateResources } from '../registry/generate-resources.mjs'
import { bootstrapTable } from '../bootstrap/generate-bootstrap.mjs'
import { textsTable } from '../openapi/generate-texts.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = resolve(here, '../..')
const places = [process.env.KEDGE_FACTS, join(root, '../shared/kubernetes/v1.36'), join(root, '.facts/v1.36')]
const { values: options } = parseArgs({
  options: {
    facts: { type: 'string', default: places.find((place) => place !== undefined && existsSync(place)) },
    check: { type: 'boolean', default: false },
  },
})

if (options.facts === undefined || !existsSync(join(options.facts, 'types.json'))) {
  console.error(`generate: no facts in ${options.facts ?? '.facts/v1.36'}: npm run facts -- --release 1.36 makes them`)
  process.exit(1)
}

const hasFacts = (...names) => names.every((name) => existsSync(join(options.facts, name)))
const read = (name) => JSON.parse(readFileSync(join(options.facts, name), 'utf8'))
const types = read('types.json')
const resources = read('resources.json')
// facts of 2026 do not resolve these constants in the package of the core group
const ADDRESS_TYPE = 'io.k8s.api.discovery.v1beta1.AddressType'
types.enums[ADDRESS_TYPE] = types.enums[ADDRESS_TYPE.replace('v1beta1', 'v1')]
const goTypes = JSON.parse(readFileSync(join(here, 'go-types.json'), 'utf8'))

/** Each table, with the facts that it needs in addition to types and resources. */
const tables = [
  ['src/schema/built-in-table.json', [], () => builtInTable(types, goTypes)],
  ['src/schema/defaults-table.json', ['defaults.json'], () => defaultsTable(read('defaults.json'))],
  ['src/codec/table/columns-table.json', ['columns.json'], () => columnsTable(read('columns.json'))],
  [
    'src/openapi/texts-table.json',
    ['openapi-v3.json', 'openapi-v3-all.json'],
    () => textsTable(read('openapi-v3.json'), read('openapi-v3-all.json')),
  ],
  ['src/bootstrap/bootstrap-table.json', ['bootstrap.json'], () => bootstrapTable(read('bootstrap.json'))],
]
const without = tables.filter(([, needed]) => !hasFacts(...needed))
for (const [path, needed] of without)
  console.log(`generate: ${path} ${options.check ? 'cannot be checked' : 'stays as it is'}: no ${needed.join(', ')}`)

const different = []
for (const [path, needed, make] of tables) {
  if (!hasFacts(...needed)) continue
  const file = join(root, path)
  const text = make()
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
  different.push(path)
  if (!options.check) writeFileSync(file, text)
}
for (const path of [
  ...generateTypes(options.facts, join(root, 'src/api'), options),
  ...generateResources(
    { resources, types, featureGates: read('feature-gates.json') },
    join(root, 'src/registry'),
    options,
  ),
])
  different.push(relative(root, path))

if (different.length === 0) console.log('generate: all files that have facts are up to date')
else console.log(`generate: ${options.check ? 'differ from the facts' : 'written'}:\n  ${different.join('\n  ')}`)
if (options.check && different.length + without.length > 0) process.exit(1)
