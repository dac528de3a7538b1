/** Stands for the module `cloudflare:workers`. */
export class DurableObject<Env> {
  constructor(
    readonly ctx: DurableObjectState,
    readonly env: Env,
  ) {}
}
