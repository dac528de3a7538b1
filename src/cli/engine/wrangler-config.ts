// Reads wrangler.toml, the only place with the bindings, compatibility date and flags of the Worker.
import { readFileSync } from 'node:fs'
import { parse, TomlError } from 'smol-toml'
import * as z from 'zod/mini'
import { checked } from '../checked.ts'

export interface WranglerConfig {
  readonly compatibilityDate: string
  readonly compatibilityFlags: readonly string[]
  /** Variables with their default values, by name. */
  readonly vars: Readonly<Record<string, string>>
  readonly durableObjects: readonly DurableObjectBinding[]
}

export interface DurableObjectBinding {
  readonly name: string
  readonly className: string
}

const text = z.string('is not a string')

/** The fields that the local engine needs; wrangler reads the rest. */
const wranglerFile = z.object({
  compatibility_date: text,
  compatibility_flags: z._default(z.array(text, 'is not a list'), []),
  vars: z._default(z.record(z.string(), text, 'is not a table'), {}),
  durable_objects: z._default(z.object({ bindings: z.array(z.object({ name: text, class_name: text })) }), {
    bindings: [],
  }),
})

export function readWranglerConfig(file: string): WranglerConfig {
  return parseWranglerConfig(readFileSync(file, 'utf8'))
}

/** @throws Error that names the line, or the setting with the wrong form */
export function parseWranglerConfig(text: string): WranglerConfig {
  const { compatibility_date, compatibility_flags, vars, durable_objects } = checked(
    wranglerFile,
    readToml(text),
    'wrangler.toml',
  )
  return {
    compatibilityDate: compatibility_date,
    compatibilityFlags: compatibility_flags,
    vars,
    durableObjects: durable_objects.bindings.map(({ name, class_name }) => ({ name, className: class_name })),
  }
}

function readToml(text: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw new Error(`wrangler.toml:${error.line}: ${error.message}`)
  }
}
