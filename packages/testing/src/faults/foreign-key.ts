/**
 * The label and annotation that another client puts on an object. A writer that removes it has overwritten
 * foreign fields.
 */
export const foreignKey = "somebody.example.com/note";
