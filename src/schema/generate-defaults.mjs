// columns.json and defaults.json → the tables of the table columns and of defaulting.
const rows = (list) => `[\n${list.map((row) => JSON.stringify(row)).join(',\n')}\n]`

/** `version/resource` or `group/version/resource` → [name, type, format, index of the description, priority] */
export function columnsTable({ defaultColumns, scaleColumns, statusColumns }, columns) {
  const texts = []
  const index = (text) => {
    const known = texts.indexOf(text)
    return known < 0 ? texts.push(text) - 1 : known
  }
  const entries = Object.entries(columns).map(([resource, list]) => [
    resource,
    list.map(({ name, type, format, description, priority }) => [name, type, format, index(description), priority]),
  ])
  return `{"default":${JSON.stringify(defaultColumns)},
"scale":${JSON.stringify(scaleColumns)},
"status":${JSON.stringify(statusColumns)},
"columns":{\n${entries.map(([name, list]) => `${JSON.stringify(name)}:${JSON.stringify(list)}`).join(',\n')}\n},
"descriptions":${rows(texts)}}\n`
}

/** Type → rows in the order in which they apply. */
export function defaultsTable({ functionDefaults }) {
  const byType = new Map()
  for (const { type, source, note, kind, ...row } of functionDefaults)
    byType.set(type, [...(byType.get(type) ?? []), row])
  return `{\n${[...byType].map(([type, list]) => `${JSON.stringify(type)}:${rows(list)}`).join(',\n')}\n}\n`
}
