/** What validation of a CustomResourceDefinition may leave as it was, and what it knows beside the definition. */
import type { RuleEngine } from '../custom-resources/rules.ts'
import type { SchemaLeniency } from './schema-validation.ts'

/** What an update need not make right. */
export interface Leniency {
  readonly schema: SchemaLeniency
  readonly missingSchemas: boolean
  readonly unprunedDefaults: boolean
  readonly reviewVersions: boolean
  /** Certificates of who converts are not looked at before the definition is established. */
  readonly authorities: boolean
  readonly tooManyFields: ReadonlySet<string>
  /** Versions whose rules may cost what they cost. */
  readonly unchangedVersions: ReadonlySet<string>
}

/** What all versions are checked by. */
export interface Checks {
  readonly lenient: Leniency
  /** Undefined where there are no rules. */
  readonly engine: RuleEngine | undefined
}

export const STRICT: Leniency = {
  schema: {},
  missingSchemas: false,
  unprunedDefaults: false,
  reviewVersions: false,
  authorities: true,
  tooManyFields: new Set(),
  unchangedVersions: new Set(),
}
