/** The label and annotation that somebody else puts on an object; whoever takes it away has overwritten foreign fields. */
export const foreignKey = "somebody.example.com/note";
