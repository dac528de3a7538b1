// How a command of the command line reads its flags.
import { parseArgs } from 'node:util'

/** A mistake in the command line; printed without a stack. */
export class UsageError extends Error {}

/** @throws UsageError */
export function parse<Options extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(
  args: string[],
  options: Options,
) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message.replace(/\. To specify.*/s, '.') : String(error))
  }
}
