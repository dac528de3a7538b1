/** Fields that may be left out, or be null, as in YAML where nothing stands behind the name. */
import * as z from 'zod/mini'

export const optional = <T>(schema: z.ZodMiniType<T>) =>
  z.pipe(
    z.nullish(schema),
    z.transform((value) => value ?? undefined),
  )

export const orElse = <T>(schema: z.ZodMiniType<T>, otherwise: T) =>
  z.pipe(
    z.nullish(schema),
    z.transform((value) => value ?? otherwise),
  )

export const list = <T>(schema: z.ZodMiniType<T>) => orElse(z.array(schema), [])
