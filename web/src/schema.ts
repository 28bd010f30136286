// The schema of scenarios: which keys a table has, and which values a key.

export interface Schema {
  $ref?: string; description?: string; type?: string; const?: string;
  properties?: Record<string, Schema>; items?: Schema; oneOf?: Schema[]; anyOf?: Schema[];
  enum?: unknown[]; $defs?: Record<string, Schema>; default?: unknown;
  minimum?: number; maximum?: number;
}
export interface Choice { label: string; detail: string }

export class Keys {
  constructor(private readonly root: Schema) {}

  /** The schema at the steps of a path; that of an element is that of its list. */
  at(path: string[]): Schema[] {
    let found = this.options(this.root);
    for (const name of path.filter((step) => !/^\d+$/.test(step))) {
      const below = found.flatMap((schema) => {
        const own = schema.properties?.[name];
        return own ? this.options(own) : [];
      });
      found = below;
    }
    return found;
  }

  keys(path: string[]): Choice[] {
    const found = new Map<string, string>();
    for (const schema of this.at(path)) {
      for (const [name, own] of Object.entries(schema.properties ?? {})) {
        found.set(name, own.description ?? schema.description ?? "");
      }
    }
    return [...found].map(([label, detail]) => ({ label, detail }));
  }

  /** Values of a key that are written as texts: constants, and the names of choices. */
  values(path: string[]): Choice[] {
    const found = new Map<string, string>();
    for (const schema of this.at(path)) {
      if (typeof schema.const === "string") found.set(schema.const, schema.description ?? "");
      for (const value of schema.enum ?? []) found.set(String(value), schema.description ?? "");
      const names = Object.keys(schema.properties ?? {});
      if (names.length === 1) found.set(names[0], schema.description ?? "");
      if (schema.type === "boolean") for (const is of ["true", "false"]) found.set(is, "");
    }
    return [...found].map(([label, detail]) => ({ label, detail }));
  }

  private options(schema: Schema): Schema[] {
    if (schema.$ref) {
      const own = this.root.$defs?.[schema.$ref.replace("#/$defs/", "")];
      return own ? this.options(own) : [];
    }
    if (schema.items) return this.options(schema.items);
    const parts = schema.oneOf ?? schema.anyOf;
    return parts ? parts.flatMap((part) => this.options(part)) : [schema];
  }
}
