/** Checks requests about roles. */
import type {
  Addressee,
  Holder,
  RoleChange,
  RoleDefinition,
  RoleQuestion,
  RoleRemoval,
} from "../../instance/inner-protocol.ts";
import {
  type Fields,
  flagIn,
  integerIn,
  listIn,
  objectIn,
  objectOf,
  textIn,
  textOrNullIn,
  textsIn,
} from "./parse-fields.ts";

export function addresseeIn(fields: Fields): Addressee {
  const asked = objectIn(fields, "asked");
  return { primary: textIn(asked, "primary"), term: integerIn(asked, "term") };
}

export function holderIn(fields: Fields): Holder {
  const holder = objectIn(fields, "holder");
  return { uid: textIn(holder, "uid"), revision: integerIn(holder, "revision"), adopts: flagIn(holder, "adopts") };
}

export function parseRoleQuestion(value: unknown): RoleQuestion {
  const fields = objectOf(value, "the question");
  return { asked: addresseeIn(fields), roles: rolesIn(fields) };
}

export function parseRoleChange(value: unknown): RoleChange {
  const fields = objectOf(value, "the change");
  return { asked: addresseeIn(fields), holder: holderIn(fields), roles: rolesIn(fields) };
}

export function parseRoleRemoval(value: unknown): RoleRemoval {
  const fields = objectOf(value, "the removal");
  return {
    asked: addresseeIn(fields),
    holder: holderIn(fields),
    names: textsIn(fields, "names"),
    isRelease: flagIn(fields, "isRelease"),
    ...(fields["heir"] === undefined ? {} : { heir: textIn(fields, "heir") }),
  };
}

function rolesIn(fields: Fields): readonly RoleDefinition[] {
  return listIn(fields, "roles").map((each) => roleOf(objectOf(each, "roles")));
}

function roleOf(fields: Fields): RoleDefinition {
  const attributes = objectIn(fields, "attributes");
  return {
    name: textIn(fields, "name"),
    attributes: {
      login: flagIn(attributes, "login"),
      createDatabase: flagIn(attributes, "createDatabase"),
      createRole: flagIn(attributes, "createRole"),
      inherit: flagIn(attributes, "inherit"),
      connectionLimit: integerIn(attributes, "connectionLimit", -1),
      validUntil: textOrNullIn(attributes, "validUntil"),
    },
    memberOf: textsIn(fields, "memberOf"),
    ...(fields["verifier"] === undefined ? {} : { verifier: textOrNullIn(fields, "verifier") }),
    ...(fields["actsAs"] === undefined ? {} : { actsAs: textIn(fields, "actsAs") }),
    ...(fields["endsSessions"] === undefined ? {} : { endsSessions: flagIn(fields, "endsSessions") }),
  };
}
