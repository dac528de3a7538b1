/**
 * Reads configurations of apiserver.config.k8s.io in YAML or JSON, as strictly as kube-apiserver: unknown fields and
 * repeated keys are errors.
 */
import * as z from 'zod/mini'
import { parseApiVersion } from '../api/group-version.ts'
import { plainJson } from '../json/json.ts'
import { DecodeError, MissingKind, missingVersion, reportRepeated } from '../codec/decode/decode-problems.ts'
import { parseBody, strictErrors } from '../codec/decode/parse-body.ts'
import { loadYaml } from '../codec/yaml/reader.ts'
import { goQuote } from '../go/quote.ts'

/** The error of a configuration, with kube-apiserver's text where it has one. */
export class BadConfiguration extends Error {
  override readonly name = 'BadConfiguration'
}

/** What kube-apiserver names in its errors. */
const SCHEME = 'pkg/runtime/scheme.go:111'
/** Kinds that it may have as files. */
const kinds: readonly string[] = ['AuthenticationConfiguration', 'AuthorizationConfiguration']

export interface ConfigurationKind<Schema extends z.core.$ZodType> {
  readonly kind: string
  /** The accepted apiVersions, newest first. */
  readonly versions: readonly string[]
  readonly schema: Schema
}

/** @throws BadConfiguration */
export async function readConfiguration<Schema extends z.core.$ZodType>(
  text: string,
  { kind, versions, schema }: ConfigurationKind<Schema>,
): Promise<z.core.output<Schema>> {
  const { apiVersion, tree, found, repeated, twice } = await parsed(text)
  if (found === '') throw new BadConfiguration(new MissingKind(text).message)
  if (apiVersion === '') throw new BadConfiguration(missingVersion(text).message)
  if (parseApiVersion(apiVersion) === undefined)
    throw new BadConfiguration(`unexpected GroupVersion string: ${apiVersion}`)
  if (!versions.includes(apiVersion) || found !== kind)
    throw new BadConfiguration(
      kinds.includes(found) && versions.includes(apiVersion)
        ? `expected ${kind}, got *apiserver.${found}`
        : `no kind ${goQuote(found)} is registered for version ${goQuote(apiVersion)} in scheme ${goQuote(SCHEME)}`,
    )
  const result = z.safeParse(schema, tree)
  const issues = result.success ? [] : result.error.issues
  const ofType = issues.filter(({ code }) => code !== 'unrecognized_keys')
  if (ofType.length > 0)
    throw new BadConfiguration(ofType.map((issue) => `${pathText(issue.path)}: ${issue.message}`).join(', '))
  const unknown = issues.flatMap(unknownFields)
  const strict = [...twice, ...unknown]
  if (repeated.length + strict.length > 0)
    throw new BadConfiguration(`strict decoding error: ${strictErrors(repeated, strict)}`)
  return result.data!
}

async function parsed(text: string) {
  await loadYaml()
  try {
    // kube-apiserver takes for JSON what begins like it
    const format = /^\s*\{/.test(text) ? 'json' : 'yaml'
    const { apiVersion, kind, repeated, tree = null } = parseBody(format, new TextEncoder().encode(text))
    const twice: string[] = []
    reportRepeated(tree, twice)
    return { apiVersion, found: kind, repeated, twice, tree: plainJson(tree) }
  } catch (error) {
    throw error instanceof DecodeError ? new BadConfiguration(error.message) : error
  }
}

const unknownFields = (issue: z.core.$ZodIssue): string[] =>
  issue.code === 'unrecognized_keys'
    ? issue.keys.map((key) => `unknown field ${goQuote(pathText([...issue.path, key]))}`)
    : []

/** `jwt[0].issuer.url` */
const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`,
    '',
  )

/** An absent field or null is '', as in Go. */
export const text = z.pipe(
  z.optional(z.nullable(z.string())),
  z.transform((value: string | null | undefined): string => value ?? ''),
)

/** An absent field or null is an empty list. */
export const listOf = <Item extends z.core.$ZodType>(item: Item) =>
  z.pipe(
    z.optional(z.nullable(z.array(item))),
    z.transform((value: z.core.output<Item>[] | null | undefined): readonly z.core.output<Item>[] => value ?? []),
  )

/** An absent struct or null has its zero values, as in Go. */
export function structOf<Shape extends z.core.$ZodShape>(shape: Shape) {
  const struct = z.strictObject(shape)
  return z.pipe(
    z.optional(z.nullable(struct)),
    z.transform((value: z.core.output<typeof struct> | null | undefined) => value ?? z.parse(struct, {})),
  )
}

/** An absent field or null is false, as in Go. */
export const flag = z.pipe(
  z.optional(z.nullable(z.boolean())),
  z.transform((value: boolean | null | undefined): boolean => value ?? false),
)
