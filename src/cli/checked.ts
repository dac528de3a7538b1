// Checks values from outside of this program by a schema: files, answers, flags.
import type * as z from 'zod/mini'

/** Undefined where the value does not fit the schema. */
export function checkedOrNot<T>(schema: z.ZodMiniType<T>, value: unknown): T | undefined {
  const result = schema.safeParse(value)
  return result.success ? result.data : undefined
}

/**
 * @param what names the value in the error
 * @throws Error that names each member that does not fit
 */
export function checked<T>(schema: z.ZodMiniType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new Error(`${what}: ${problemsOf(result.error)}`)
}

/** `users.0.token: is not a string; …` */
export const problemsOf = ({ issues }: z.core.$ZodError): string =>
  issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`)).join('; ')
