// `npm run generate`: makes the committed tables from the facts about the built-in types of a Kubernetes release.
//
//   node src/schema/generate.mjs [--facts DIR] [--check]
//
// The facts (types.json, resources.json, defaults.json, columns.json, feature-gates.json) are not part of this project;
// DIR is by default $KEDGE_FACTS or ../shared/kubernetes/v1.36. `--check` writes nothing and fails where a committed
// file differs. Without the facts there is nothing to do, which is not an error: the tables are committed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { builtInTable } from './generate-table.mjs'
import { generateTypes } from './generate-types.mjs'
import { columnsTable, defaultsTable } from './generate-defaults.mjs'
import { generateResources } from '../registry/generate-resources.mjs'
import { textsTable } from '../openapi/generate-texts.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = resolve(here, '../..')
const { values: options } = parseArgs({
  options: {
    facts: { type: 'string', default: process.env.KEDGE_FACTS ?? join(root, '../shared/kubernetes/v1.36') },
    check: { type: 'boolean', default: false },
  },
})

if (!existsSync(join(options.facts, 'types.json'))) {
  console.log(`generate: no facts in ${options.facts} (types.json): the committed tables stay as they are`)
  process.exit(0)
}

const read = (name) => JSON.parse(readFileSync(join(options.facts, name), 'utf8'))
const types = read('types.json')
const resources = read('resources.json')
const goTypes = JSON.parse(readFileSync(join(here, 'go-types.json'), 'utf8'))
const outputs = {
  'src/schema/built-in-table.json': builtInTable(types, goTypes),
  'src/schema/defaults-table.json': defaultsTable(read('defaults.json')),
  'src/codec/table/columns-table.json': columnsTable(resources, read('columns.json')),
  'src/openapi/texts-table.json': textsTable(read('openapi-v3.json'), read('openapi-v3-all.json')),
}

const different = []
for (const [path, text] of Object.entries(outputs)) {
  const file = join(root, path)
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

if (different.length === 0) console.log('generate: all files are up to date')
else console.log(`generate: ${options.check ? 'differ from the facts' : 'written'}:\n  ${different.join('\n  ')}`)
if (options.check && different.length > 0) process.exit(1)
